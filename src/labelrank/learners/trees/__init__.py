"""Trees: forests for all labels at once, and boosted trees per label."""
