"""Writes a CSV again, as other programs do: `spreadsheets.py <how> <from> <to>`. An .xlsx is read or written where its name says so."""

import csv
import re
import sys

import openpyxl


def rows_of(file):
    if file.endswith(".xlsx"):
        sheet = openpyxl.load_workbook(file).active
        return [[text_of(cell.value) for cell in row] for row in sheet.iter_rows()]
    with open(file, encoding="utf-8", newline="") as opened:
        return list(csv.reader(opened))


def text_of(value):
    if value is None:
        return ""
    return str(value).upper() if isinstance(value, bool) else str(value)


def value_of(text):
    """What a spreadsheet makes of a cell of a CSV."""
    if text == "":
        return None
    if text.upper() in ("TRUE", "FALSE"):
        return text.upper() == "TRUE"
    if re.fullmatch(r"-?\d+", text):
        return int(text) if len(text) <= 15 else float(text)
    return float(text) if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) else text


def write(how, rows, file):
    if file.endswith(".xlsx"):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([value_of(text) for text in row])
        book.save(file)
        return
    delimiter = {"semicolons": ";", "tabs": "\t"}.get(how, ",")
    with open(file, "w", encoding="utf-8-sig" if how == "semicolons" else "utf-8", newline="") as opened:
        if how == "semicolons":
            opened.write("sep=;\r\n")
        quoting = csv.QUOTE_ALL if how == "quotes" else csv.QUOTE_MINIMAL
        ends = ["", "", ""] if how == "columns" else []
        writer = csv.writer(opened, delimiter=delimiter, quoting=quoting)
        writer.writerows(row + ends for row in rows)
        if how == "columns":
            writer.writerow(["" for _ in rows[0] + ends])


how, source, target = sys.argv[1:]
write(how, rows_of(source), target)
