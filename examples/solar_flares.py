"""Solar flares: three questions of several classes each, answered together.

How many common, moderate and severe flares will a region of the sun have in the next 24 hours?
A chain answers one question after the other; the Viterbi chain finds the most probable answer to
all of them at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import OneHotEncoder

from labelrank import catalog, datasets, metrics
from labelrank.evaluation import StratifiedFolds

data = datasets.load("solar-flare")
classes = OneHotEncoder().fit_transform(data.Y)
folds = list(StratifiedFolds(5, random_state=0).split(data.X, classes))
print(f"{data.n_instances} regions; targets: {', '.join(data.label_names)}\n")

print("learner   exact match   Hamming score")
for name in ("IC", "CC", "PCC", "VCC"):
    exact, hamming = [], []
    for train, test in folds:
        learner = catalog.make(name, targets="classes", random_state=0)
        predicted = learner.fit(data.X[train], data.Y[train]).predict(data.X[test])
        exact.append(metrics.exact_match(data.Y[test], predicted))
        hamming.append(metrics.hamming_score(data.Y[test], predicted))
    print(f"{name:<10}{np.mean(exact):>11.2f}{np.mean(hamming):>16.2f}")

answers, probabilities = np.zeros_like(data.Y), np.zeros(data.n_instances)
for train, test in folds:
    chain = catalog.make("VCC", targets="classes", order=None).fit(data.X[train], data.Y[train])
    answers[test] = chain.predict(data.X[test])
    probabilities[test] = np.exp(chain.log_joint(data.X[test], answers[test]))
for i in np.argsort(probabilities)[[-1, 0]]:
    told = ", ".join(f"{name} {k}" for name, k in zip(data.label_names, answers[i], strict=True))
    print(f"\nProbability {probabilities[i]:.2f}: {told}", end="")
print()

right = (answers == data.Y).all(axis=1)
parts = np.array_split(np.argsort(probabilities), 6)
figure, axes = plt.subplots(figsize=(4.5, 4), layout="constrained")
axes.plot([0, 1], [0, 1], color="lightgrey")
told, found = ([values[part].mean() for part in parts] for values in (probabilities, right))
axes.plot(told, found, "o-")
axes.set(title="The whole answer for a region", xlabel="probability told", ylabel="share right")
figure.savefig("solar_flares.png")
