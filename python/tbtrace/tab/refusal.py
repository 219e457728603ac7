"""What a route answers instead of data."""

from __future__ import annotations


class Refusal(Exception):
    """`sentence` is for people."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
