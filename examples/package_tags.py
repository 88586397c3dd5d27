"""Package tags: learn the tags of Debian packages from their descriptions, then tag new text.

The sample comes with labelrank, so that this runs anywhere.
"""

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
