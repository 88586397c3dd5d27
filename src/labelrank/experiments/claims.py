"""What the papers say in words, each sentence judged by the number that decides it.
The sentences stand in `contents.csv`, beside those that are not judged, with the reason. A lead is
how far the first is ahead: a share of the other's loss, or points where the text gives points.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from labelrank.experiments.registry import Found
from labelrank.experiments.verdicts import Record, claim

_RCV1 = "RCV1"
_LOSSES = ("IsErr x100", "ErrSetSize", "Margin")
_ALPHA = 0.05


def _lead(found: Found, row: str, first: str, other: str) -> float:
    """By what share the loss of the first is less than that of the other."""
    return 1 - found[row, first] / found[row, other]


def _row(found: Found, row: str) -> dict[str, float]:
    return {column: value for (where, column), value in found.items() if where == row}


def of_rcv1(found: Found) -> Iterator[Record]:
    """000, VI-B: Table II in words."""
    leads = [_lead(found, row, "MLPP", "MMP") for row in _LOSSES]
    leads.append(found["AvgP x100", "MLPP"] / found["AvgP x100", "MMP"] - 1)
    yield claim("MLPP is ahead of MMP in every loss", _RCV1, min(leads))
    yield claim("the lead is less pronounced in IsErr than in ErrSetSize", _RCV1,
                leads[1] - leads[0])  # fmt: skip
    pairs, places = (found[row, "MMP"] - found[row, "MLPP"] for row in _LOSSES[1:])
    yield claim("MLPP orders almost one more pair of labels rightly per document", _RCV1, pairs,
                above=0.5, below=1.5)  # fmt: skip
    yield claim("MLPP improves the margin by more than half a label", _RCV1, places, above=0.5)
    yield claim("MLPP is ahead in the margin loss of MMP trained for it", _RCV1,
                _lead(found, "Margin", "MLPP", "MMP for MARGIN"))  # fmt: skip


def of_lecture_rcv1(found: Found) -> Iterator[Record]:
    """003: its table of calibrated pairwise classification in words."""
    signs = {"AvgPrec %": 1, "RankLoss %": -1, "OneError %": -1}

    def least_lead(firsts: Iterable[str], others: Iterable[str]) -> float:
        return min(
            sign * (found[one, row] - found[other, row])
            for one in firsts for other in others for row, sign in signs.items()
        )  # fmt: skip

    yield claim("both pairwise methods are ahead of BR and MMP", _RCV1,
                least_lead(("MLPC", "CMLPC"), ("BR", "MMP")))  # fmt: skip
    yield claim("the calibrated version is ahead of the uncalibrated one", _RCV1,
                least_lead(("CMLPC",), ("MLPC",)))  # fmt: skip
    yield claim("CMLPC has a smaller Hamming loss than BR", _RCV1,
                found["BR", "HamLoss %"] - found["CMLPC", "HamLoss %"])  # fmt: skip


def of_small_sets(found: Found) -> Iterator[Record]:
    """000, VI-B: Table III in words; one-sided Wilcoxon tests over the ten folds."""

    def p(name: str, loss: str, rival: str) -> float:
        return found[f"{name} {loss}, p of MLPP ahead", rival]

    if ("reuters21578 IsErr x100", "MMP") in found:
        said = "the lead of MLPP over MMP in IsErr is not significant"
        value = p("reuters21578", "IsErr x100", "MMP")
        yield claim(said, "reuters21578", value, above=_ALPHA)
    yield claim("MLPP is significantly ahead in every loss", "yeast",
                max(p("yeast", loss, rival) for loss in (*_LOSSES, "AvgP x100")
                    for rival in ("MMP", "BR")), above=None, below=_ALPHA)  # fmt: skip
    if ("scene IsErr x100", "MMP") in found:
        yield claim("no lead of MLPP over BR is significant", "scene",
                    min(p("scene", loss, "BR") for loss in (*_LOSSES, "AvgP x100")),
                    above=_ALPHA)  # fmt: skip
        said = "the leads of MLPP over MMP in ErrSetSize and the margin are not significant"
        value = min(p("scene", loss, "MMP") for loss in _LOSSES[1:])
        yield claim(said, "scene", value, above=_ALPHA)
        yield claim("BR is ahead of MMP in IsErr", "scene",
                    _lead(found, "scene IsErr x100", "BR", "MMP"))  # fmt: skip


def of_operations(found: Found) -> Iterator[Record]:
    """000, V and VI-E: what training costs."""
    times = found["training", "MLPP / BR"] / found["training", "MMP / BR"]
    L = found["training documents", "labels each"]
    yield claim("training MLPP takes about L times the operations of MMP", _RCV1, times / L,
                above=0.8, below=1.25)  # fmt: skip
    yield claim("training MLPP takes between L/4 and 2L times the operations of MMP", _RCV1,
                times / L, above=0.25, below=2.0)  # fmt: skip
    yield claim("predicting takes (K - 1)/2 times the operations of MMP", _RCV1,
                found["prediction", "MLPP / BR"] / found["prediction", "MMP / BR"],
                above=49.99, below=50.01)  # fmt: skip


def of_curves(found: Found) -> Iterator[Record]:
    """000, VI-C and VI-D: Figures 4 to 7, which print no numbers."""

    def lead(row: str, first: str = "MLPP", other: str = "MMP") -> float:
        return found[row, other] - found[row, first]

    def moved(name: str, part: str) -> float:
        first, last = (found[f"Figure 7, is_error on {part}, epoch {n}", name] for n in (1, 10))
        return last - first

    yield claim("in the beginning MMP is somewhat ahead in IsErr (Figure 4)", _RCV1,
                lead("Figure 4, is_error after 1,000", "MMP", "MLPP"))  # fmt: skip
    yield claim("MLPP is ahead in ErrSetSize from the start (Figure 5)", _RCV1,
                found["Figure 5, error_set_size", "least lead of MLPP over MMP"])  # fmt: skip
    yield claim("with more examples MLPP is clearly ahead in IsErr (Figure 6): by a point", _RCV1,
                lead("Figure 6, is_error after 8,790"), above=0.01)  # fmt: skip
    yield claim("MMP gets worse on test documents with more epochs (Figure 7)", _RCV1,
                moved("MMP", "test"))  # fmt: skip
    yield claim("MMP fits the training documents better with more epochs", _RCV1,
                -moved("MMP", "train"))  # fmt: skip
    yield claim("MLPP reaches losses near 0 on training documents", _RCV1,
                found["Figure 7, is_error on train, epoch 10", "MLPP"], above=None,
                below=0.01)  # fmt: skip
    yield claim("MLPP remains stable on test documents: within two points", _RCV1,
                moved("MLPP", "test"), above=-0.02, below=0.02)  # fmt: skip
    yield claim("further epochs of MLPP do not lead to over-fitting", _RCV1, moved("MLPP", "test"),
                above=None, below=0.02)  # fmt: skip


def of_logistic_chains(found: Found) -> Iterator[Record]:
    """004, Section 6: Table 3 in words, by average ranks."""
    ranks = {
        column: rank for (row, column), rank in found.items() if row == "logistic average rank"
    }
    yield claim("with logistic links CC and MCC are ahead of VCC", "average rank",
                ranks["VCC"] - max(ranks["CC"], ranks["MCC"]))  # fmt: skip
    yield claim("with logistic links VsCC cannot compete with CC", "average rank",
                ranks["VsCC"] - ranks["CC"])  # fmt: skip


def of_forest_chains(found: Found) -> Iterator[Record]:
    """004, Section 6: Table 4 in words."""
    sets = [row for row, column in found if column == "IC" and "rank" not in row]

    def apart(first: str, other: str) -> float:
        return sum(found[name, first] - found[name, other] for name in sets) / len(sets)

    said = "with forests VCC and CC, VsCC and MsCC are level: within a point on average"
    yield claim(said, "five sets", max(abs(apart("VCC", "CC")), abs(apart("VsCC", "MsCC"))),
                above=None, below=0.01)  # fmt: skip
    ranks = _row(found, "forest average rank")
    yield claim("with forests VsCC does best", "average rank",
                min(rank for method, rank in ranks.items() if method != "VsCC")
                - ranks["VsCC"])  # fmt: skip


def of_swaps(found: Found) -> Iterator[Record]:
    """004, Section 6: how much of a chain is trained again."""
    trained = _row(found, "links trained by a search of 50 swaps")
    yield claim("a search by swaps trains fewer links of Viterbi chains than of full ones", "Music",
                trained["full"] - trained["Viterbi"])  # fmt: skip


def of_forest_evidence(found: Found) -> Iterator[Record]:
    """004, Section 6: over several splits of Music and Scene."""
    for name in ("Music", "Scene"):
        row = f"all features, {name}"
        yield claim("with forests VsCC and MsCC are level: within two points", name,
                    found[row, "VsCC"] - found[row, "MsCC"], above=-0.02, below=0.02)  # fmt: skip
        yield claim("with forests a chain is ahead of independent classifiers", name,
                    found[row, "CC"] - found[row, "IC"])  # fmt: skip
        yield claim("chains gain more where forests weigh all features", name,
                    found[row, "CC"] - found[row, "IC"] - found[f"some features, {name}", "CC"]
                    + found[f"some features, {name}", "IC"])  # fmt: skip


_MEANS = ("micro AUC", "macro AUC")


def _sets(found: Found, ending: str) -> list[str]:
    """The sets that have a row of that ending."""
    rows = {row for row, _ in found if row.endswith(f", {ending}")}
    return sorted(row.removesuffix(f", {ending}") for row in rows)


def of_plm(found: Found) -> Iterator[Record]:
    """001, Section 5.2: Figures 2 to 4 have no numbers; the least of micro and macro AUC."""

    def lead(first: tuple[str, str], other: tuple[str, str]) -> float:
        return min(found[first[0], f"{first[1]} {mean}"] - found[other[0], f"{other[1]} {mean}"]
                   for mean in _MEANS)  # fmt: skip

    for name in _sets(found, "100 epochs"):
        row = f"{name}, 100 epochs"
        yield claim("EP-PLM is ahead of EC-PLM after 100 epochs (Figure 2)", name,
                    lead((row, "EP-PLM"), (row, "EC-PLM")))  # fmt: skip
        one, ten = f"{name}, 1 models", f"{name}, 10 models"
        gains = {method: lead((ten, method), (one, method)) for method in ("EC-PLM", "EP-PLM")}
        yield claim("bagging has a strong impact on EC-PLM: two points (Figure 3)", name,
                    gains["EC-PLM"], above=0.02)  # fmt: skip
        yield claim("bagging improves EP-PLM (Figure 3)", name, gains["EP-PLM"])
    for name in _sets(found, "s = 50"):
        row = f"{name}, s = 50"
        networks = [m for m in ("MLP linear", "MLP sigmoid") if (row, f"{m} {_MEANS[0]}") in found]
        yield claim("EC-PLM and EP-PLM are ahead of networks of their shape (Figure 4)", name,
                    min(lead((row, one), (row, network)) for one in ("EC-PLM", "EP-PLM")
                        for network in networks))  # fmt: skip
    for name in _sets(found, "s = 200"):
        low, high = f"{name}, s = 25", f"{name}, s = 200"
        yield claim("the size of the codes matters: a point from 25 to 200 (Figure 4)", name,
                    min(abs(found[high, f"{method} {mean}"] - found[low, f"{method} {mean}"])
                        for method in ("EC-PLM", "EP-PLM") for mean in _MEANS),
                    above=0.01)  # fmt: skip
    times = found.get(("costs, s", "EC-PLM epoch")), found.get(("costs, s", "EP-PLM epoch"))
    if times[0] is not None and times[1] is not None:
        yield claim("an epoch of EP-PLM takes less time than one of EC-PLM", "costs",
                    times[0] - times[1], timed=True)  # fmt: skip


def of_preferences(found: Found) -> Iterator[Record]:
    """Of our own: why EP-PLM may be ahead or behind."""
    few, many = (f"{n} preferences per label" for n in (4, 120))
    for name in _sets(found, many):

        def lead(when: str, first: str, other: str, name: str = name) -> float:
            row = f"{name}, {when}"
            return min(found[row, f"{first} {mean}"] - found[row, f"{other} {mean}"]
                       for mean in _MEANS)  # fmt: skip

        yield claim("with 120 preferences per label EP-PLM is ahead of EC-PLM", name,
                    lead(many, "EP-PLM", "EC-PLM"))  # fmt: skip
        yield claim("with 4 preferences per label EP-PLM is ahead of EC-PLM", name,
                    lead(few, "EP-PLM", "EC-PLM"))  # fmt: skip
        yield claim("codes by square roots of the eigenvalues are ahead of the paper's", name,
                    lead(many, "EP-PLM, square roots", "EP-PLM"))  # fmt: skip


def of_plm_ablation(found: Found) -> Iterator[Record]:
    """001, Section 5.2: "probably" the codes of more documents are why EP-PLM is ahead."""
    for name in _sets(found, "codes of the model's documents"):
        paper, own = f"{name}, as in the paper", f"{name}, codes of the model's documents"
        for mean in _MEANS:
            gained = found[paper, f"EP-PLM {mean}"] - found[own, f"EP-PLM {mean}"]
            yield claim("codes of more documents improve EP-PLM", f"{name}, {mean}", gained)


def of_pro_loss(found: Found) -> Iterator[Record]:
    """002: Table 2 and Figures 2 and 3a in words."""
    totals = _row(found, "rank total")
    ours, rivals = ("ProSVM", "ProSVM-A"), [m for m in totals if not m.startswith("ProSVM")]
    sets = [row for row, column in found if column == "ProSVM"
            if not row.startswith(("rank", "robustness"))]  # fmt: skip
    yield from _ahead_in_total(totals, rivals, f"{len(sets)} sets")
    best = [min(found[name, m] for m in ours) < min(found[name, m] for m in rivals)
            for name in sets]  # fmt: skip
    yield claim("ProSVM or ProSVM-A is best on every set", f"{len(sets)} sets",
                sum(best) / len(best), above=1 - 1e-9)  # fmt: skip
    rows = [row for row, column in found if column == "ProSVM'"]
    good = [
        sum(found[row, m] < min(found[row, f"{one}'"] for one in ours)
            for m in {column for where, column in found if where == row}) < _FEW
        for row in rows
    ]  # fmt: skip
    yield claim("without order, one of the two is among the best three by most of nine criteria",
                f"{len(sets)} sets", sum(good) / len(good), above=0.5)  # fmt: skip
    seconds = {m: found["robustness, time", m] for m in (*ours, *rivals)}
    yield claim("ProSVM takes no more time than most rivals (Figure 3a)", f"{len(sets)} sets",
                sum(seconds[m] > seconds["ProSVM"] for m in rivals) / len(rivals), above=0.5,
                timed=True)  # fmt: skip


_FEW = 3


def of_real_grades(found: Found) -> Iterator[Record]:
    """002: what Table 1 says of its one set with a real order, on sets that we have."""
    totals = _row(found, "rank total")
    rivals = [m for m in totals if not m.startswith("ProSVM")]
    sets = len({row for row, _ in found}) - 1
    yield from _ahead_in_total(totals, rivals, f"{sets} sets with real grades")


def _ahead_in_total(totals: dict[str, float], rivals: list[str], of: str) -> Iterator[Record]:
    """The lead of the worse of ProSVM and ProSVM-A over the best rival, in ranks per set."""
    lead = min(totals[m] for m in rivals) - max(totals["ProSVM"], totals["ProSVM-A"])
    yield claim("ProSVM and ProSVM-A are ahead of all rivals by rank total", of, lead)
    yield claim("ProSVM is ahead of ProSVM-A by rank total", of,
                totals["ProSVM-A"] - totals["ProSVM"])  # fmt: skip


def of_event_models(found: Found) -> Iterator[Record]:
    """003, Figures 1 to 4: which event model for which vocabulary."""
    for name in ("reuters21578", "debtags"):
        rows = [row for row, column in found if row.startswith(name) and column == "Bernoulli"]
        leads = [found[row, "Bernoulli"] - found[row, "multinomial"] for row in rows]
        best = {model: max(found[row, model] for row in rows)
                for model in ("Bernoulli", "multinomial")}  # fmt: skip
        small = leads[: len(leads) // 3]
        yield claim("Bernoulli is ahead with a small vocabulary", name, sum(small) / len(small))
        yield claim("multinomial is ahead with the whole vocabulary", name, -leads[-1])
        yield claim("the best accuracy of all is multinomial", name,
                    best["multinomial"] - best["Bernoulli"])  # fmt: skip


def of_capacity(found: Found) -> Iterator[Record]:
    """003: what C and k do to the fit of the training documents."""

    def errors(part: str, title: str) -> list[float]:
        return [value for (row, column), value in found.items()
                if column == f"{part} error" and row.startswith(title)]  # fmt: skip

    fits = errors("training", "linear SVM")
    yield claim("higher C forces a better fit to the training documents", "linear SVM",
                min(a - b for a, b in pairwise(fits)), above=-1e-9)  # fmt: skip
    for title in ("linear SVM", "kNN", "NB"):
        train, test = errors("training", title), errors("test", title)
        yield claim("the best fit to the training documents is not the best on test documents",
                    title, test[train.index(min(train))] - min(test))  # fmt: skip


def of_reuters(found: Found) -> Iterator[Record]:
    """003: its three Reuters tables in words."""
    dumais = [("Dumais avg all", name) for name in ("linear SVM", "NB", "Rocchio", "trees")]
    yield claim("the linear SVM is ahead of Rocchio, naive Bayes and trees", "Dumais, avg all",
                found[dumais[0]] - max(found[one] for one in dumais[1:]))  # fmt: skip
    yield claim("k nearest neighbours may be ahead of naive Bayes", "Joachims, microavg",
                found["Joachims microavg", "kNN"] - found["Joachims microavg", "NB"])  # fmt: skip


def of_kernels(found: Found) -> Iterator[Record]:
    """003: Joachims' kernels, averaged over the ten largest categories."""
    by_kernel: dict[str, list[float]] = {}
    for (_, kernel), value in found.items():
        by_kernel.setdefault(kernel, []).append(value)
    means = {kernel: sum(values) / len(values) for kernel, values in by_kernel.items()}
    radial = min(value for kernel, value in means.items() if kernel.startswith("rbf"))
    yield claim("every radial kernel is ahead of the linear one", "mean of ten categories",
                radial - means["poly 1"])  # fmt: skip
    yield claim("polynomials of degree 2 to 5 are ahead of the linear one",
                "mean of ten categories",
                min(means[f"poly {d}"] for d in (2, 3, 4, 5)) - means["poly 1"])  # fmt: skip


def of_eurlex(found: Found) -> Iterator[Record]:
    """003: the largest problem that its pairwise perceptrons were tried on."""
    values = _row(found, "average precision, per cent")
    pairs, others = values["MLPP"], (values["BR"], values["MMP"])
    yield claim("with 4,000 labels the pairwise method is ahead of BR and MMP", "EUR-Lex",
                pairs - max(others))  # fmt: skip
    yield claim("its average precision is almost 50 %", "EUR-Lex", pairs, above=45, below=55)
    yield claim("that of BR and MMP is less than 30 %", "EUR-Lex", max(others), above=None,
                below=30)  # fmt: skip
    yield claim("on average the relevant labels are among the first ten", "EUR-Lex",
                found["labels down to the last relevant one", "MLPP"], above=None,
                below=10.5)  # fmt: skip
