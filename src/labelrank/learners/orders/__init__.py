"""Label ranking: learners whose targets are orders of the labels."""
