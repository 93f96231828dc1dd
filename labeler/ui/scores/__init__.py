"""The Scores page: every run by the chosen measures, updated while people grade."""
