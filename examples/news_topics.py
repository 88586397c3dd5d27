"""News topics: Reuters-21578 by three learners, from the fastest to the most careful.

All see the same TF-IDF vectors of the same 9,603 training stories. `rank` orders the topics of a
story, `predict` is the part of that ranking before the threshold.
"""

import matplotlib.pyplot as plt

from labelrank import catalog, datasets, metrics
from labelrank.text import make_vectorizer

data = datasets.load("reuters21578", common_topics=True)
terms = make_vectorizer("tfidf", sublinear_tf=True)
X, X_test = terms.fit_transform(data.train.texts), terms.transform(data.test.texts)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
print("learner   micro F1   ranking loss   one error")
for name in ("NB", "BR+", "BSVM+"):
    learner = catalog.make(name).fit(X, data.train.Y)
    scores = learner.decision_function(X_test)
    found = metrics.evaluate(data.test.Y, scores, predicted=learner.predict(X_test))
    print(
        f"{name:<10}{found['micro_f1']:>8.2f}{found['ranking_loss']:>15.3f}"
        f"{found['one_error']:>12.2f}"
    )
    curve = metrics.precision_recall_curve(data.test.Y, scores)
    axes.plot(curve.recall, curve.precision, label=name)
axes.set(title="All topics together", xlabel="recall", ylabel="precision")
axes.legend()
figure.savefig("news_topics.png")

story = data.test.texts.index(max(data.test.texts[:300], key=lambda text: "wheat" in text))
ranking = learner.rank(X_test[[story]], top=3)[0]
relevant = set(data.test.Y[[story]].nonzero()[1])
print("\n" + " ".join(data.test.texts[story].split()[:9]) + " ...")
for k in ranking:
    print(f"  {data.label_names[k]:<10}{'right' if k in relevant else 'wrong'}")
