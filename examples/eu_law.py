"""EU law: thousands of subjects for the titles of legal acts, learned from two years.

The acts of 2014 and 2015 teach, those of 2016 ask. With so many subjects people look at the first
few, so that precision among these is what counts.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelrank import BinaryRelevanceSVM, InvertedIndexKNN, datasets, metrics
from labelrank.text import make_vectorizer

data = datasets.load("eurlex-titles")
years = np.array([int(act[1:5]) for act in data.ids])  # 32016R0044 is an act of 2016
train, test = data.subset(np.isin(years, (2014, 2015))), data.subset(years == 2016)
terms = make_vectorizer("tfidf", sublinear_tf=True, ngram_range=(1, 2), min_df=2)
X, X_test = terms.fit_transform(train.texts), terms.transform(test.texts)
print(f"{train.n_instances} acts, {X.shape[1]} terms, {data.Y.shape[1]} subjects")

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
places = range(1, 11)
print("\nlearner              P@1    P@5   ranking loss")
for learner in (InvertedIndexKNN(n_neighbors=10), BinaryRelevanceSVM(random_state=0)):
    scores = learner.fit(X, train.Y).decision_function(X_test)
    precision = [metrics.precision_at_k(test.Y, scores, k) for k in places]
    name, loss = type(learner).__name__, metrics.ranking_loss(test.Y, scores)
    print(f"{name:<20}{precision[0]:>5.2f}{precision[4]:>7.2f}{loss:>15.3f}")
    axes.plot(places, precision, marker="o", label=name)
axes.set(title="How many of the first k subjects are right", xlabel="k", ylabel="precision at k")
axes.legend()
figure.savefig("eu_law.png")

act = next(i for i, text in enumerate(test.texts) if "fishing" in text)
print("\n" + " ".join(test.texts[act].split()[:16]) + " ...")
relevant = set(test.Y[[act]].nonzero()[1])
for k in learner.rank(X_test[[act]], top=5)[0]:
    print(f"  {data.label_names[k]:<36}{'right' if k in relevant else 'wrong'}")
