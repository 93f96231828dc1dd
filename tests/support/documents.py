"""Documents made up for the tests of chunkings: prose, tables, code, and scripts of many kinds."""

from __future__ import annotations

import random
from collections.abc import Sequence

from labeler.rechunking import Cut

WORDS = {
    "prose": "fee account transfer card month notice branch refund policy client balance invoice",
    "arabic": "رسوم حساب تحويل بطاقة شهر إشعار فرع استرداد سياسة عميل رصيد فاتورة تاريخ عقد مبلغ",
    "hindi": "शुल्क खाता स्थानांतरण कार्ड महीना सूचना शाखा वापसी नीति ग्राहक शेष चालान तारीख अनुबंध",
    "korean": "수수료 계좌 이체 카드 월 통지 지점 환불 정책 고객 잔액 송장 날짜 계약 금액",
    "vietnamese": "phí tài khoản chuyển thẻ tháng thông báo chi nhánh hoàn tiền chính sách khách",
}
CHINESE = "账户转账手续费退款政策客户余额发票月份通知分行窗口银行卡服务申请日期合同金额规定"
KINDS = (*WORDS, "table", "code", "chinese")


def document(kind: str, numbers: random.Random, paragraphs: int = 30) -> str:
    """Return a document of a kind; no two paragraphs of it are alike."""
    maker = {"table": _table, "code": _code, "chinese": _chinese}.get(kind)
    if maker is None:
        words = WORDS[kind].split()
        return "\n\n".join(_sentences(words, numbers, at) for at in range(paragraphs))
    return "\n\n".join(maker(numbers, at) for at in range(paragraphs))


def _sentences(words: Sequence[str], numbers: random.Random, at: int) -> str:
    said = (numbers.choices(words, k=numbers.randint(6, 14)) for _ in range(numbers.randint(2, 5)))
    return " ".join(f"{' '.join(each)} {at}{numbers.randint(10, 99)}." for each in said)


def _chinese(numbers: random.Random, at: int) -> str:
    said = (numbers.choices(CHINESE, k=numbers.randint(12, 30)) for _ in range(4))
    return "".join(f"{''.join(each)}{at}。" for each in said)


def _table(numbers: random.Random, at: int) -> str:
    words = WORDS["prose"].split()
    rows = [
        f"| {numbers.choice(words)} {at} | {numbers.randint(1, 999)} | {numbers.choice(words)} |"
        for _ in range(numbers.randint(3, 9))
    ]
    return "\n".join([f"## Table {at}", "| name | amount | note |", "|---|---|---|", *rows])


def _code(numbers: random.Random, at: int) -> str:
    word, other = numbers.sample(WORDS["prose"].split(), 2)
    lines = [f"    {other}_{line} = {word}[{numbers.randint(0, 99)}]" for line in range(4)]
    return "\n".join([f"def {word}_{at}({other}, limit):", *lines, f"    return {other}_{at}"])


def spans_of(text: str, size: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Return spans of a length, one after another, that share ``overlap`` characters."""
    return [
        (start, min(len(text), start + size))
        for start in range(0, max(1, len(text) - overlap), size - overlap)
    ]


def cuts(
    name: str, text: str, spans: Sequence[tuple[int, int]], document_id: str | None = None
) -> list[Cut]:
    """Return the chunks that spans cut out of a text, without white space at their ends."""
    return [
        Cut(f"{name}{number}", text[start:end].strip(), document_id, number)
        for number, (start, end) in enumerate(spans)
    ]
