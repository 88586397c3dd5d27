"""The learners, one published family a file; import them from `labelrank`."""
