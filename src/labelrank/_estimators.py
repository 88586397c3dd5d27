"""The base classes of scikit-learn's estimators; the stub beside says their types."""

from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "TransformerMixin"]
