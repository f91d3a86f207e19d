"""Days named from where we stand: yesterday, two weeks ago, last month, this weekend."""

from __future__ import annotations

from memolith.text import calendar_days as days
from memolith.text.calendar_days import Unit
from memolith.text.date_grammar import LIKELY, MAYBE, Phrase
from memolith.text.date_words import FEW

RELATIVE = (
    Phrase(
        "today",
        "earlier? today | tonight | this morning/afternoon/evening | hoy | hoy mismo"
        " | esta manana/tarde/noche | hoje | aujourd ' hui | heute | oggi | сегодня | اليوم"
        " | 今天 | 今日 | 오늘",
        lambda today: days.exact(today, 0),
    ),
    Phrase(
        "yesterday",
        "yesterday | last night | ayer | anoche | ontem | hier | gestern | ieri | вчера | امس"
        " | 昨天 | 昨日 | 어제",
        lambda today: days.exact(today, -1),
    ),
    Phrase(
        "the day before yesterday",
        "the? day before yesterday | anteayer | antier | antes de ayer | antenoche | anteanoche"
        " | anteontem | avant - hier | vorgestern | altro ieri | altroieri | позавчера"
        " | 前天 | 一昨日 | 그저께",
        lambda today: days.exact(today, -2),
    ),
    Phrase(
        "tomorrow",
        "tomorrow | manana | amanha | demain | domani | завтра | 明天 | 明日 | 내일",
        lambda today: days.exact(today, 1),
    ),
    Phrase(
        "the day after tomorrow",
        "the? day after tomorrow | pasado manana",
        lambda today: days.exact(today, 2),
    ),
    Phrase(
        "the other day",
        "the other day | el otro dia",
        lambda today: days.within(today, 14, Unit.DAY),
        MAYBE,
    ),
    Phrase(
        "lately",
        "recently | lately | of late | these days | recent | ultimamente | recientemente | kurzlich"
        " | neulich",
        lambda today: days.within(today, 30, Unit.DAY),
        MAYBE,
    ),
    Phrase(  # «por la mañana» is in the morning, «hoy en día» is nowadays
        "",
        "por/de/en/a/toda la manana | cada manana | la manana | hoy en dia",
        None,
    ),
    Phrase(
        "so long ago",
        "<n> <unit> ago | <n> <units> back | hace ya/como/casi/unos/unas/aproximadamente? <n> <unit>"
        " | hace mas de <n> <unit> | <n> <unit> atras",
        days.ago,
    ),
    Phrase(
        "twenty-five days ago",
        "<tens> -? <digit> <unit> ago | hace <tens> y <digit> <unit>",
        lambda today, tens, digit, unit: days.ago(today, tens + digit, unit),
    ),
    Phrase(
        "a week ago today",
        "<n> <unit> ago today | hoy hace <n> <unit>",
        lambda today, count, unit: days.ahead(today, -count, unit),
    ),
    Phrase(
        "half a year ago",
        "half a year ago | hace medio ano",
        lambda today: days.ago(today, 6, Unit.MONTH),
    ),
    Phrase(
        "a year and a half ago",
        "a/one year and a half ago | hace un? ano y medio",
        lambda today: days.ago(today, 6, Unit.QUARTER),
    ),
    Phrase(
        "a couple of days ago",
        "a? couple of? <units> ago | hace un par de <units>",
        lambda today, unit: days.ago(today, 2, unit),
        LIKELY,
    ),
    Phrase(
        "in the last couple of days",
        "in/over/during/within? the? last/past couple of? <units> | en? el ultimo par de <units>",
        lambda today, unit: days.within(today, 2, unit),
        LIKELY,
    ),
    Phrase(
        "a few days ago",
        "a? few <units> ago/back | several <units> ago/back | hace unos/unas/algunos/algunas/pocos/pocas <units>",
        lambda today, unit: days.within(today, FEW, unit),
        LIKELY,
    ),
    Phrase(
        "in the last so many days",
        "in/over/during/within/for? the? last/past <n> <unit> | the/these? last/past <n> <unit>"
        " | en/durante? los/las/estos/estas? ultimos/ultimas <n> <unit>"
        " | en/durante? los/las <n> ultimos/ultimas <unit>",
        days.within,
    ),
    Phrase(
        "in the last week",
        "in/over/during/within the last <unit> | in/over/during/within/this? the? past <unit>"
        " | en/durante? el/la ultimo/ultima <unit>",
        lambda today, unit: days.within(today, 1, unit) if unit > Unit.DAY else None,
    ),
    Phrase(
        "in the last few days",
        "in/over/during/within? the? last/past few <units> | in/over the last/past <units>"
        " | en/durante? los/las/estos/estas ultimos/ultimas <units>",
        lambda today, unit: days.within(today, FEW, unit),
        LIKELY,
    ),
    Phrase(
        "in so many days",
        "in <n> <unit> | <n> <unit> from now | dentro de <n> <unit>",
        days.ahead,
        MAYBE,
    ),
    Phrase(
        "this week, month, quarter, year",
        "earlier/later? this <unit> | de? este/esta <unit> | en lo que va de/del este/esta? <unit>",
        lambda today, unit: days.period(today, unit, 0),
    ),
    Phrase(
        "last week, month, quarter, year",
        "the? last/previous <unit> | el/la? <unit> pasado/pasada/anterior | el/la pasado/pasada <unit>",
        lambda today, unit: days.period(today, unit, -1),
    ),
    Phrase(
        "the week before last",
        "the? <unit> before last | el/la? <unit> antepasado/antepasada",
        lambda today, unit: days.period(today, unit, -2),
    ),
    Phrase(
        "next week, month, quarter, year",
        "next <unit> | the? coming <unit> | el/la? proximo/proxima <unit> | el/la? <unit> que viene"
        " | el/la? <unit> proximo/proxima",
        lambda today, unit: days.period(today, unit, 1),
    ),
    Phrase(
        "last week, in other languages",
        "semana passada | semaine derniere/passee | letzte woche | settimana scorsa"
        " | 上周 | 上週 | 先週 | 지난주",
        lambda today: days.period(today, Unit.WEEK, -1),
    ),
    Phrase(
        "this week, in other languages",
        "cette semaine | diese woche | questa settimana | 今周 | 今週 | 本周 | 本週 | 이번주",
        lambda today: days.period(today, Unit.WEEK, 0),
    ),
    Phrase(
        "last month, in other languages",
        "mes passado | mois dernier/passe | letzten monat | mese scorso"
        " | 上个月 | 上個月 | 先月 | 지난달",
        lambda today: days.period(today, Unit.MONTH, -1),
    ),
    Phrase(
        "this month, in other languages",
        "ce mois | diesen monat | questo mese | 本月 | 今月 | 이번달",
        lambda today: days.period(today, Unit.MONTH, 0),
    ),
    Phrase(
        "last year, in other languages",
        "ano passado | annee derniere | letztes jahr | anno scorso | 去年 | 昨年 | 작년",
        lambda today: days.period(today, Unit.YEAR, -1),
    ),
    Phrase(
        "this year, in other languages",
        "cette annee | dieses jahr | quest ' anno | 今年 | 올해",
        lambda today: days.period(today, Unit.YEAR, 0),
    ),
    Phrase(
        "the weekend",
        "over/on/at/during? the weekend | el fin de semana | el finde",
        days.latest_weekend,
        LIKELY,
    ),
    Phrase(
        "this weekend",
        "this weekend | este fin de semana | este finde",
        lambda today: days.weekend(today, 0),
    ),
    Phrase(
        "last weekend",
        "last/past weekend | el? fin de semana pasado/anterior | el? finde pasado"
        " | el pasado fin de semana",
        lambda today: days.weekend(today, -1),
    ),
    Phrase(
        "next weekend",
        "next weekend | el? proximo fin de semana | el? fin de semana que viene",
        lambda today: days.weekend(today, 1),
    ),
)
