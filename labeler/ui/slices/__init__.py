"""The Slices page: bucket by measure, for one run or for run B against run A."""
