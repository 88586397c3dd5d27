"""Solar flares: three questions of several classes each, answered together.

How many common, moderate and severe flares will a region of the sun have in the next 24 hours?
A chain answers one question after the other; the Viterbi chain finds the most probable answer to
all of them at once.
"""

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

train, test = folds[0]
chain = catalog.make("VCC", targets="classes", order=None).fit(data.X[train], data.Y[train])
answer = chain.predict(data.X[test])
probability = np.exp(chain.log_joint(data.X[test], answer))
for i in np.argsort(probability)[[-1, 0]]:
    told = ", ".join(f"{name} {k}" for name, k in zip(data.label_names, answer[i], strict=True))
    print(f"\nProbability {probability[i]:.2f}: {told}", end="")
print()
