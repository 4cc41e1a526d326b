"""Expressions in plain words."""

from __future__ import annotations

import pytest

from quartzite.cron import CronExpression


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 30 9 ? * MON-FRI", "At 09:30:00, Monday to Friday"),
        ("0 35 9 ? * 2", "At 09:35:00, Monday"),
        ("0 0 12 * * ?", "At 12:00:00, every day"),
        ("0 0 12 ? * *", "At 12:00:00, every day"),
        ("0 10,44 14 ? 3 WED", "At 14:10:00 and 14:44:00, Wednesday, in March"),
        ("0 0 6,12,18 * * ?", "At 06:00:00, 12:00:00 and 18:00:00, every day"),
        ("* * * * * ?", "Every second"),
        ("0/1 * * * * ?", "Every second"),
        ("*/5 * * * * ?", "Every 5 seconds"),
        ("/5 * * * * ?", "Every 5 seconds"),
        ("5 * * * * ?", "At second 5 of every minute"),
        ("0 * * * * ?", "Every minute"),
        ("0 0/15 * * * ?", "Every 15 minutes"),
        ("0 7/13 * * * ?", "At every 13th minute from 7 of every hour"),
        ("0 15 * * * ?", "At minute 15 of every hour"),
        ("0 0 * * * ?", "Every hour"),
        ("0 0 */2 * * ?", "Every 2 hours"),
        ("0 0 8-18 * * ?", "At minute 0 of hours 8 to 18, every day"),
        ("0 0/5 14,18 * * ?", "Every 5 minutes of hours 14 and 18"),
        ("0 0/5 */2 * * ?", "Every 5 minutes of every 2nd hour"),
        ("* 5 3 * * ?", "Every second of minute 5 of hour 3"),
        ("5,10 * 3 * * ?", "At seconds 5 and 10 of every minute of hour 3, every day"),
        ("10-20/3 1 1-5 ? * MON", "At every 3rd second from 10 to 20 of minute 1 of hours 1 to 5, Monday"),
        ("0 5,20-30,40/5 3 * * ?", "At minutes 5 and 20 to 30 and every 5th minute from 40 of hour 3, every day"),
        ("0 15 10 1 * ?", "At 10:15:00, day 1 of the month"),
        ("0 15 10 1,15 * ?", "At 10:15:00, days 1 and 15 of the month"),
        ("0 15 10 16-9 * ?", "At 10:15:00, days 16 to 9 of the month"),
        ("0 15 10 1/5 * ?", "At 10:15:00, every 5th day from 1 of the month"),
        ("0 15 10 */2 * ?", "At 10:15:00, every 2nd day of the month"),
        ("0 15 10 */11 * ?", "At 10:15:00, every 11th day of the month"),
        ("0 15 10 */21 * ?", "At 10:15:00, every 21st day of the month"),
        ("0 15 10 L * ?", "At 10:15:00, the last day of the month"),
        ("0 15 10 L-1 * ?", "At 10:15:00, 1 day before the last day of the month"),
        ("0 15 10 L-2 * ?", "At 10:15:00, 2 days before the last day of the month"),
        ("0 15 10 LW * ?", "At 10:15:00, the last weekday of the month"),
        ("0 15 10 L-0W * ?", "At 10:15:00, the last weekday of the month"),
        ("0 15 10 LW-3 * ?", "At 10:15:00, 3 days before the last weekday of the month"),
        ("0 15 10 15W * ?", "At 10:15:00, the weekday nearest to day 15 of the month"),
        ("0 15 10 L-3W * ?", "At 10:15:00, the weekday nearest to 3 days before the last day of the month"),
        ("0 15 10 1,L * ?", "At 10:15:00, day 1 of the month and the last day of the month"),
        ("0 15 10 ? * L", "At 10:15:00, Saturday"),
        ("0 15 10 ? * 6L", "At 10:15:00, the last Friday of the month"),
        ("0 15 10 ? * FRI#3", "At 10:15:00, the third Friday of the month"),
        ("0 15 10 ? * SUN,TUE,FRI-SAT", "At 10:15:00, Sunday, Tuesday and Friday to Saturday"),
        ("0 15 10 ? * 2/2", "At 10:15:00, Monday, Wednesday and Friday"),
        ("0 15 10 13 * FRI", "At 10:15:00, day 13 of the month or Friday"),
        ("0 15 10 * * FRI", "At 10:15:00, every day"),
        ("0 15 10 * JAN,6-8 ?", "At 10:15:00, every day, in January and June to August"),
        ("0 15 10 ? */6 MON", "At 10:15:00, Monday, in January and July"),
        ("0 15 10 1 1 ? 2030", "At 10:15:00, day 1 of the month, in January, in 2030"),
        ("0 15 10 1 * ? 2026,2030-2034", "At 10:15:00, day 1 of the month, in years 2026 and 2030 to 2034"),
        ("0 15 10 1 * ? 2030/2", "At 10:15:00, day 1 of the month, in every 2nd year from 2030"),
        ("0 15 10 1 * ? *", "At 10:15:00, day 1 of the month"),
    ],
)
def test_words(text: str, words: str) -> None:
    """The words name times, days, months and years; weekdays by name whatever their number."""
    assert CronExpression(text).describe() == words
