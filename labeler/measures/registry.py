"""The registry of measures, which the command line, the pages and the documentation show."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from labeler.errors import BadInput
from labeler.measures import contributions, evidence, formulas
from labeler.measures.definition import Definition

_FIRST_RELEVANT_ONLY = (
    "Terms depend on each other: only the first relevant chunk has one, and any that overtakes it "
    "takes the term."
)


_FIRST_EVIDENCE_ONLY = (
    "Terms depend on each other: evidence counts for the first chunk that brings it, and not for "
    "those below that hold it too."
)


_DEFINITIONS = (
    Definition(
        name="nDCG",
        function=formulas.ndcg,
        terms=contributions.ndcg,
        meaning="How much of the best possible gain the ranking collects, early ranks counting "
        "most.",
        hides="Which grades were missed: one chunk of grade 3 can outweigh several of grade 1.",
        formula="Σ gain(grade)/log2(rank+1) over the top k, divided by the same sum for the "
        "query's golden grades in best order",
        example="nDCG@10",
        bands="from 0.9 is close to the best order there is, from 0.75 good, from 0.5 useful with "
        "much left to gain; below that the best chunks stand low or are missing.",
        aliases=("NormalizedDCG",),
        parameters=("dcg", "gains", "documents", "judged_only"),
        optional=("gains",),
    ),
    Definition(
        name="P",
        function=formulas.precision,
        terms=contributions.precision,
        meaning="The share of the top k that is relevant.",
        hides="The order inside the top k, and that a query with few relevant chunks cannot "
        "reach 1.",
        formula="relevant in the top k / k",
        example="P@5",
        aliases=("Precision",),
        parameters=("rel", "documents", "judged_only"),
        cutoff="must",
    ),
    Definition(
        name="R",
        function=formulas.recall,
        terms=contributions.recall,
        meaning="The share of the query's known relevant chunks that the top k hold.",
        hides="The order inside the top k, and relevant chunks that nobody has graded yet.",
        formula="relevant in the top k / known relevant",
        example="R@5",
        bands="of 1 misses nothing that is known, from 0.9 hardly anything, from 0.75 up to a "
        "quarter, from 0.5 up to half; below that most of it never reaches whoever reads.",
        aliases=("Recall",),
        parameters=("rel", "documents", "judged_only"),
    ),
    Definition(
        name="F1",
        function=formulas.f1,
        terms=contributions.f1,
        meaning="Precision and recall of the top k in one number, the lower one counting more.",
        hides="The order inside the top k, and which of the two is low.",
        formula="2 · relevant in the top k / (k + known relevant), the harmonic mean of P@k and "
        "R@k",
        example="F1@5",
        aliases=("FMeasure", "F1Score"),
        parameters=("rel", "documents", "judged_only"),
        cutoff="must",
    ),
    Definition(
        name="Success",
        function=formulas.success,
        terms=contributions.success,
        meaning="Whether the top k hold at least one relevant chunk (hit rate).",
        hides="Everything after the first relevant chunk.",
        formula="1 if relevant in the top k ≥ 1, else 0",
        example="Success@3",
        aliases=("Hit", "Hits", "HitRate", "SuccessRate"),
        depends=_FIRST_RELEVANT_ONLY,
        parameters=("rel", "documents", "judged_only"),
        cutoff="must",
    ),
    Definition(
        name="RR",
        function=formulas.reciprocal_rank,
        terms=contributions.reciprocal_rank,
        meaning="How early the first relevant chunk comes; its mean over queries is MRR.",
        hides="Everything after the first relevant chunk.",
        formula="1 / rank of the first relevant chunk, 0 if none is in the top k",
        example="RR@10",
        bands="of 1 has a relevant chunk first for every query, from 0.9 for nearly all, from 0.75 "
        "first or second for most, from 0.5 second as if on average; below that people have to "
        "look for it.",
        aliases=("MRR", "ReciprocalRank", "MeanReciprocalRank"),
        depends=_FIRST_RELEVANT_ONLY,
        parameters=("rel", "documents", "judged_only"),
    ),
    Definition(
        name="AP",
        function=formulas.average_precision,
        terms=contributions.average_precision,
        meaning="Precision at the rank of each relevant chunk, averaged over all known ones; its "
        "mean over queries is MAP.",
        hides="How relevant a chunk is: grades above the threshold all count the same.",
        formula="Σ P@rank over the relevant chunks in the top k / known relevant",
        example="AP",
        aliases=("MAP", "AveragePrecision", "MeanAveragePrecision"),
        depends="Terms depend on each other: a chunk's term is the precision at its rank, which "
        "counts the relevant chunks above it too.",
        parameters=("rel", "documents", "judged_only"),
    ),
    Definition(
        name="Rprec",
        function=formulas.r_precision,
        terms=contributions.r_precision,
        meaning="Precision at the rank by which a perfect ranking would have found everything: "
        "after as many chunks as are relevant.",
        hides="The order above that rank, and everything below it.",
        formula="relevant in the top R / R, where R is the number of known relevant chunks",
        example="Rprec",
        aliases=("RPrecision",),
        depends="Terms depend on the query: how deep a chunk may stand, and what it adds, follow "
        "from how many relevant chunks are known.",
        parameters=("rel", "documents", "judged_only"),
        cutoff="never",
        instead="P@k or R@k",
    ),
    Definition(
        name="Bpref",
        function=formulas.binary_preference,
        terms=contributions.binary_preference,
        meaning="How far relevant chunks stand above those known not to be relevant; ungraded ones "
        "are passed over, so that few grades do less harm.",
        hides="The ranks themselves: a list full of ungraded chunks can reach 1.",
        formula="Σ over relevant chunks of (1 − min(worse above it, R) / min(R, N)) / R, of R "
        "relevant and N other graded chunks",
        example="Bpref",
        aliases=("BinaryPreference",),
        depends="Terms depend on each other: a relevant chunk loses with each one graded as not "
        "relevant that stands above it.",
        parameters=("rel",),
        cutoff="never",
        instead="AP@k",
    ),
    Definition(
        name="IPrec",
        function=formulas.interpolated_precision,
        terms=contributions.interpolated_precision,
        meaning="The highest precision at any rank by which a share of the known relevant chunks "
        "is found; at 0, 0.1 and so on up to 1 it is the classic curve of precision over recall.",
        hides="At which rank that is, and everything after it.",
        formula="max of P@rank from the rank on at which ⌊recall · known relevant + 0.9⌋ are "
        "found, as trec_eval; 0 if they never are",
        example="IPrec@0.1",
        aliases=("InterpolatedPrecision", "IPrecision"),
        depends="Terms depend on each other: the relevant chunks down to the best rank share its "
        "precision.",
        parameters=("rel", "recall", "judged_only"),
        cutoff="never",
        after_at="recall",
        instead="P@k",
    ),
    Definition(
        name="infAP",
        function=formulas.inferred_ap,
        terms=contributions.inferred_ap,
        meaning="Average precision as it can be expected where only a sample of the pool is "
        "graded.",
        hides="How few grades it rests on; and it needs to know the pool, as grades below 0 say "
        "it.",
        formula="Σ expected precision at each relevant chunk / known relevant, where of the chunks "
        "above it those in the pool are relevant as often as the graded ones are (trec_eval)",
        example="infAP",
        aliases=("InferredAP",),
        depends="Terms depend on each other: a chunk's term counts the graded and pooled chunks "
        "above it.",
        parameters=("rel",),
        cutoff="never",
        instead="AP@k",
    ),
    Definition(
        name="RBP",
        function=formulas.rank_biased_precision,
        terms=contributions.rank_biased_precision,
        meaning="The share of relevant chunks met by a reader who goes on from each chunk to the "
        "next with chance p.",
        hides="How many relevant chunks there were to find: with a single one, the value cannot "
        "exceed 1 − p.",
        formula="(1 − p) · Σ p^(rank−1) over the relevant chunks in the top k",
        example="RBP(p=0.8)",
        aliases=("RankBiasedPrecision",),
        parameters=("rel", "p", "documents"),
    ),
    Definition(
        name="ERR",
        function=formulas.expected_reciprocal_rank,
        terms=contributions.expected_reciprocal_rank,
        meaning="How early a reader is satisfied who stops the sooner the better the grade.",
        hides="Almost everything after the first chunk of grade 3; even a perfect ranking stays "
        "below 1.",
        formula="Σ s(grade)/rank · Π (1 − s) of the chunks above, over the top k, where "
        "s = (2^grade − 1) / 2^max",
        example="ERR@10",
        aliases=("ExpectedReciprocalRank",),
        depends="Terms depend on each other: each good chunk above lowers the term of those below.",
        parameters=("max", "documents"),
    ),
    Definition(
        name="SetP",
        function=formulas.set_precision,
        terms=contributions.set_precision,
        meaning="The share of the whole list that is relevant.",
        hides="All order, and that a run may return as few chunks as it likes.",
        formula="relevant in the list / length of the list",
        example="SetP",
        aliases=("SetPrecision",),
        depends="Terms depend on the list: the longer it is, the less each relevant chunk adds.",
        parameters=("rel", "judged_only"),
        cutoff="never",
        instead="P@k",
    ),
    Definition(
        name="SetR",
        function=formulas.set_recall,
        terms=contributions.set_recall,
        meaning="The share of the query's known relevant chunks that the whole list holds.",
        hides="All order: a run that returns everything has 1.",
        formula="relevant in the list / known relevant",
        example="SetR",
        aliases=("SetRecall",),
        parameters=("rel",),
        cutoff="never",
        instead="R@k",
    ),
    Definition(
        name="SetF",
        function=formulas.set_f,
        terms=contributions.set_f,
        meaning="Precision and recall of the whole list in one number.",
        hides="All order, and which of the two is low.",
        formula="(1 + beta) · SetP · SetR / (SetR + beta · SetP), as trec_eval: beta is not "
        "squared",
        example="SetF",
        depends="Terms depend on the list: the longer it is, the less each relevant chunk adds.",
        parameters=("rel", "beta", "judged_only"),
        cutoff="never",
        instead="F1@k",
    ),
    Definition(
        name="Judged",
        function=formulas.judged,
        terms=contributions.judged,
        meaning="The share of the top k that somebody graded: how far to trust the others.",
        hides="Whether the graded chunks are any good.",
        formula="graded in the top k / min(k, length of the list)",
        example="Judged@10",
        always_defined=True,
    ),
    Definition(
        name="NumRet",
        function=formulas.number_retrieved,
        terms=contributions.number_retrieved,
        meaning="How many chunks the run returned; with rel, how many relevant ones.",
        hides="Where they stand, and how many there were to find.",
        formula="length of the list; with rel, relevant in the list",
        example="NumRet",
        aliases=("NumRetrieved",),
        depends="Without rel, terms do not sum to the value: ungraded chunks count and have none.",
        parameters=("rel",),
        optional=("rel",),
        cutoff="never",
        count=True,
        always_defined=True,
    ),
    Definition(
        name="NumRel",
        function=formulas.number_relevant,
        terms=contributions.number_relevant,
        meaning="How many relevant chunks the query is known to have, the same for every run.",
        hides="Everything about the run, and relevant chunks that nobody has graded yet.",
        formula="known relevant",
        example="NumRel",
        aliases=("NumRelevant",),
        depends="Terms are 0 and do not sum to the value: no run can change it.",
        parameters=("rel",),
        cutoff="never",
        count=True,
        always_defined=True,
    ),
    Definition(
        name="EvidenceR",
        function=evidence.recall,
        terms=evidence.recall_terms,
        meaning="The share of the marked evidence, in characters, that the retrieved texts hold, "
        "whatever the chunking.",
        hides="How much else was retrieved with it, and passages that nobody has marked yet.",
        formula="evidence characters in the top k, or in a prompt of so many characters / all "
        "evidence characters of the query",
        example="EvidenceR@5",
        aliases=("EvidenceRecall",),
        depends=_FIRST_EVIDENCE_ONLY,
        parameters=("rel", "characters"),
        optional=("characters",),
        after_at="characters",
        reads="evidence",
    ),
    Definition(
        name="EvidenceP",
        function=evidence.precision,
        terms=evidence.precision_terms,
        meaning="The share of the retrieved characters that is marked evidence, whatever the "
        "chunking.",
        hides="How much evidence is missed; and even perfect chunks carry text around it.",
        formula="evidence characters in the top k, or in a prompt of so many characters / "
        "characters retrieved; text counts as often as it is retrieved, evidence once",
        example="EvidenceP@2000c",
        aliases=("EvidencePrecision",),
        depends=_FIRST_EVIDENCE_ONLY,
        parameters=("rel", "characters"),
        optional=("characters",),
        after_at="characters",
        reads="evidence",
    ),
    Definition(
        name="EvidenceIoU",
        function=evidence.iou,
        terms=evidence.iou_terms,
        meaning="How well what is retrieved and the marked evidence cover each other, in "
        "characters, whatever the chunking.",
        hides="Which of the two is too much; and long chunks cannot reach a high value.",
        formula="found / (all evidence + retrieved − found), in characters of the top k or of a "
        "prompt of so many",
        example="EvidenceIoU@5",
        aliases=("IoU", "EvidenceJaccard"),
        depends=_FIRST_EVIDENCE_ONLY,
        parameters=("rel", "characters"),
        optional=("characters",),
        after_at="characters",
        reads="evidence",
    ),
)

MEASURES: Mapping[str, Definition] = MappingProxyType({d.name: d for d in _DEFINITIONS})

_HANDBOOK: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "first-hit": ("Success", "RR"),
        "precision-and-recall": ("P", "R", "F1", "SetP", "SetR", "SetF", "NumRet", "NumRel"),
        "average-precision": ("AP", "Rprec", "IPrec", "Bpref", "infAP"),
        "ndcg": ("nDCG",),
        "rbp-and-err": ("RBP", "ERR"),
        "evidence": ("EvidenceR", "EvidenceP", "EvidenceIoU"),
        "means": ("Judged",),
    }
)


def handbook_page(name: str) -> str:
    """Return the page and heading of a measure in the documentation.

    >>> handbook_page("RR"), handbook_page("nDCG")
    ('handbook/first-hit#rr', 'handbook/ndcg#ndcg')
    """
    for page, names in _HANDBOOK.items():
        if name in names:
            return f"handbook/{page}#{name.lower()}"
    raise BadInput(f"no measure is called {name!r}; there are {', '.join(MEASURES)}")
