"""Large margins over preferences: ProSVM, RankSVM, one SVM per label (Xu, Li & Zhou 2013)."""
