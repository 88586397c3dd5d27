"""Package tags: learn the tags of Debian packages from their descriptions, then tag new text.

The sample comes with labelrank, so that this runs anywhere.
"""

import matplotlib.pyplot as plt

from labelrank import Tagger, datasets, metrics

data = datasets.load("debtags-sample")
tagger = Tagger().fit(data.train.texts, data.train.Y, label_names=data.label_names)

scores = tagger.decision_function(data.test.texts)
found = metrics.evaluate(data.test.Y, scores)
print(f"{data.test.n_instances} packages that were not seen before:")
for name in ("precision_at_1", "micro_f1", "ranking_loss"):
    print(f"  {name.replace('_', ' '):<16}{found[name]:.2f}")

text = "Play chess against the computer or a friend over the network"
print(f"\n{text}:")
for label, _, is_given in tagger.rank([text], top=5)[0]:
    print(f"  {label:<28}{'given' if is_given else ''}".rstrip())

best = tagger.rank([text], top=1)[0][0].label
reason = tagger.why(text, best)
words = tagger.get_feature_names_out()
print(f"\nThe words that spoke most for or against {best}:")
for j, share in zip(reason.features[:3], reason.contributions[:3], strict=True):
    print(f"  {words[j]:<12}{share:+.1f}")

ranking = tagger.rank([text], top=8)[0][::-1]
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
colours = ["tab:blue" if label.in_set else "lightgrey" for label in ranking]
axes.barh([label.label for label in ranking], [label.score for label in ranking], color=colours)
axes.axvline(0, color="black", linewidth=0.8)
axes.set(title="Labels by score: the set is what lies above the cut", xlabel="score")
figure.savefig("package_tags.png")
