"""HTTP: signing in, the grading API, push, the audit log, component scripts."""
