"""Features that learners make of features."""
