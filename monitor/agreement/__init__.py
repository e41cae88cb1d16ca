"""How far verdicts agree with what others said of the same turns: labelled sets and people."""
