"""Emotions in headlines: labels that are relevant to a degree.

Six judges gave each headline 0 to 100 points for each of six emotions. Points are relevance as
they are: 0 means the emotion is not there, more points mean that it is preferred to one with
fewer. ProSVM learns both, the set and its order, and PRO loss measures both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from labelrank import catalog, datasets, metrics
from labelrank.evaluation import StratifiedFolds
from labelrank.text import make_vectorizer

data = datasets.load("affective-text")
train, test = data.test, data.train  # the larger part, 1,000 headlines, teaches
terms = make_vectorizer("tfidf", stop_words="english", sublinear_tf=True)
X, X_test = terms.fit_transform(train.texts), terms.transform(test.texts)
# Fewer than 25 points are a hint, not an emotion.
Y, Y_test = (np.where(part.Y.toarray() >= 25, part.Y.toarray(), 0.0) for part in (train, test))

print("learner     C      PRO loss   ranking loss")
for name in ("BSVM", "ProSVM'", "ProSVM"):
    learner = GridSearchCV(
        catalog.make(name, fit_intercept=True, random_state=0),
        {"C": [0.1, 1.0, 10.0]},
        scoring=metrics.get_scorer("pro_loss"),
        cv=StratifiedFolds(3, random_state=0),
    ).fit(X, Y)
    scores = learner.decision_function(X_test)
    pro, ranking = metrics.pro_loss(Y_test, scores), metrics.ranking_loss(Y_test, scores)
    print(f"{name:<12}{learner.best_params_['C']:<7g}{pro:>8.3f}{ranking:>15.3f}")

headlines = ["Children killed in bomb attack", "Surprise win delights fans"]
model, places = learner.best_estimator_, np.arange(len(data.label_names))
figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
print()
for text, panel in zip(headlines, axes, strict=True):
    x = terms.transform([text])
    print(f"{text}: {', '.join(data.label_names[k] for k in model.rank(x, top=3)[0])}")
    panel.barh(places, model.decision_function(x)[0], tick_label=data.label_names)
    panel.axvline(0, color="black", linewidth=0.8)
    panel.set(title=text, xlabel="score (the cut is 0)")
figure.savefig("emotions_in_headlines.png")
