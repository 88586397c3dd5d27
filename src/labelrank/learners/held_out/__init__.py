"""What is learned from scores of instances held out: probabilities and cuts."""
