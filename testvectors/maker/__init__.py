"""What make.py is made of: writers of the formats, and the cases."""
