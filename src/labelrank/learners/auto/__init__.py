"""The learner that chooses among learners by held-out quality."""
