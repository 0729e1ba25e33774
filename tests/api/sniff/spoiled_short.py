"""Short spoiled texts: text, separator (empty for one column), names (None without a header), rows."""

from __future__ import annotations

import csv

from tests.api.sniff.spoiled import Spoiled

_READINGS: list[tuple[bytes, str, str | None, int]] = [
    (b"Name;Zeit\nAnn;12:30\nBo;13:45\n", ";", "Name|Zeit", 2),
    (b"10:00,5\n10:05,6\n10:10,7\n", ",", None, 3),
    (b"2024-01-31T10:00:00Z 5 ok\n2024-01-31T10:05:00Z 6 ok\n2024-01-31T10:10:00Z 7 bad\n", " ", None, 3),
    (b"date time value\n2024-01-31 10:00 5\n2024-01-31 10:05 6\n", " ", "date|time|value", 2),
    (
        b'10.0.0.1 - - [31/Jan/2024:10:00:00 +0000] "GET /a" 200 5\n10.0.0.2 - - [31/Jan/2024:10:00:01 +0000] "GET /b" 404 0\n',
        " ",
        None,
        2,
    ),
    (b"lat,lon\n52.5,13.4\n48.1,11.6\n", ",", "lat|lon", 2),
    (b"x;1,5\ny;2,5\nz;3,5\n", ";", None, 3),
    (b'name\tnote\nAnn\tsaid "hi" twice\nBo\t"quoted"\n', "\t", "name|note", 2),
    (b'id|json\n1|{"a": [1, 2], "b": "x;y"}\n2|{"a": [3], "b": "z"}\n', "|", "id|json", 2),
    (b'id,json\n1,{"a": 1}\n2,{"a": 2}\n', ",", "id|json", 2),
    (b"a,b,c\n1,2,3\n\n\nx,y\n5,6\n7,8\n", ",", "a|b|c", 4),
    (b"Total;;\nx;y;z\n1;2;3\n4;5;6\nTotal;7;9\n", ";", "x|y|z", 3),
    (b"a,b\n1,2\n3,4\nTotal: 6\n", ",", "a|b", 2),
    (b"a,b\n1,2\n3,4\n\nTotal,6\n", ",", "a|b", 3),
    (b"a;b;c\n1;2;3\n4,5,6\n7;8;9\n", ";", "a|b|c", 3),
    (b"a,b,c\n1,2,3,\n4,5,6\n7,8,9\n", ",", "a|b|c", 3),
    (b"a,b,c,\n1,2,3\n4,5,6\n7,8,9\n", ",", "a|b|c|column_4", 3),
    (b"\n\na,b\n1,2\n", ",", "a|b", 1),
    (b"# c1\n# c2\n1,2\n3,4\n", ",", None, 2),
    (b"a,b\n1,'x'\n2,'y'\n", ",", "a|b", 2),
    (b"'a';'b'\n'1;2';'x'\n'3';'y'\n", ";", "a|b", 2),
    (b'a,b\n1,"x\\"y"\n2,"z, w"\n', ",", "a|b", 2),
    (b'a,b\n"1,""2""",x\n3,y\n', ",", "a|b", 2),
    (b"Q1;Q2\n1.000,50;2.000,75\n3.000,00;4.000,25\n", ";", "Q1|Q2", 2),
    (b"a,b\r\n1,2\r3,4\n5,6\r\n", ",", "a|b", 3),
    (b"1;2;3\n", ";", None, 1),
    (b"a b c\n1 2 3\n4 5 6\n", " ", "a|b|c", 2),
    (b"first name last name\nAnn Lee\nBo Ray\n", "", "first name last name", 2),
    (b"url\nhttp://a.b/c?x=1&y=2\nhttp://a.b/c?x=3&y=4\nhttp://a.b/c?x=5&y=6\n", "", "url", 3),
    (b"ip,port\n10.0.0.1,80\n10.0.0.2,443\n", ",", "ip|port", 2),
    (b"fe80::1,80\nfe80::2,443\n", ",", None, 2),
    (b"a::b\n1::2\n3::4\n", "::", "a|b", 2),
    (b"id~name\n1~x\n2~y\n", "~", "id|name", 2),
    (b"x^y\na^b\nc^d\n", "^", "x|y", 2),
    (b"note\nred, green\nblue\npink, grey, teal\n", "", "note", 3),
    (b"Report 2024\nname;n\nbolt;1\nnut;2\n", ";", "name|n", 2),
    (b"Report;2024\nname;n;x\nbolt;1;2\nnut;2;3\n", ";", "name|n|x", 2),
    (
        b"Company report\nCreated,2024-01-31\n\nid,name,price\n1,bolt,0.5\n2,nut,0.25\n3,gear,1.5\n4,belt,2.5\n",
        ",",
        "id|name|price",
        4,
    ),
    (b"id,name,price\n1,bolt,0.5\n2,nut,0.25\n\nPrices in EUR\nSee also: list 2\n", ",", "id|name|price", 2),
    (b"id,name,price\n1,bolt,0.5\n2,nut,0.25\nPrices in EUR,,\n", ",", "id|name|price", 2),
    (b"id,name,price\n1,bolt,0.5\n2,nut,0.25\n,,0.75\n", ",", "id|name|price", 3),
    (b'"id","name"\n"1","Ann"\n"2","Bo "the cat""\n', ",", "id|name", 2),
    (b'id,size\n1,"5" wide"\n2,"6" wide"\n3,"no"\n', ",", "id|size", 3),
    (b'id,size\n1,5"\n2,6"\n3,7"\n', ",", "id|size", 3),
    (b'id,name,n\n1,"Ann,2\n2,"Bo",3\n3,"Cy",4\n', ",", "id|name|n", 3),
    (b"t,x,y\ns,m,m\n0.1,2,3\n0.2,3,4\n0.3,4,5\n", ",", "t_s|x_m|y_m", 3),
    (b"name,age\nAnn,unknown\nBo,12\nCy,13\n", ",", "name|age", 3),
    (b"id,label\nx1,alpha\nx2,beta\n", ",", "id|label", 2),
    (b"Sales;;;\n;;;\nregion;q1;q2;q3\nnorth;1;2;3\nsouth;4;5;6\n;;;\ntotal;5;7;9\n", ";", "region|q1|q2|q3", 4),
    (b",a,b\nr1,1,2\nr2,3,4\n", ",", "column_1|a|b", 2),
    (b"a,b,c\n,,\n1,2,3\n4,5,6\n", ",", "a|b|c", 3),
    (b"1,2,3\n1,2,3\n1,2,3\n", ",", None, 3),
    (b"a,b\na,b\na,b\n", ",", None, 3),
    (b"id,v\n1,10\n2,20\n3\n", ",", "id|v", 3),
    (b"id,v\n1,10\n2,20\nend\n", ",", "id|v", 2),
    (b"city,country\nRome,Italy\nOslo,Norway\nLima\n", ",", "city|country", 3),
    (b"a\tb\tc\n1\t2\t3\n4\t5\t6\n7\t8\n", "\t", "a|b|c", 3),
    (b"a|b\n1|x,y\n2|z,w\n3|u,v\n", "|", "a|b", 3),
    (b"a|b|c\n1|2|3|\n4|5|6|\n7|8|9|\n", "|", "a|b|c|column_4", 3),
    (b"'a';'b'\n'it''s';1\n'no';2\n'well; then';3\n", ";", "a|b", 3),
    (b"k;v\na;\"x;y\"\nb;'z'\n", ";", "k|v", 2),
    (b"date;open;close\n31.01.2024;1,5;1,6\n01.02.2024;1,7;1,8\n", ";", "date|open|close", 2),
    (b"12.5.2024 10:00;5\n13.5.2024 11:00;6\n", ";", None, 2),
    (b'when,what\n"Jan 5, 2024",a\n"Feb 6, 2024",b\n', ",", "when|what", 2),
    (b"when;what\nJan 5, 2024;a\nFeb 6, 2024;b\n", ";", "when|what", 2),
    (b"when\nJan 5, 2024\nFeb 6, 2024\n", "", "when", 2),
    (b"phone,n\n+49 30 1234,1\n+49 40 5678,2\n", ",", "phone|n", 2),
    (b"colour,hex\nred,#ff0000\nblue,#0000ff\n", ",", "colour|hex", 2),
    (b"version;date\n1.2.3;2024-01-01\n1.2.4;2024-02-01\n", ";", "version|date", 2),
    (b"ratio,n\n3:4,1\n5:6,2\n", ",", "ratio|n", 2),
    (b"time,event\n00:01:02.5,start\n00:02:03.5,stop\n", ",", "time|event", 2),
    (b"time event\n00:01:02 start\n00:02:03 stop\n", " ", "time|event", 2),
    (b'coords\n"52.5,13.4"\n"48.1,11.6"\n', "", "coords", 2),
    (b"52.5,13.4\n48.1,11.6\n", ",", None, 2),
    (b'name,coords\nA,"52.5,13.4"\nB,"48.1,11.6"\n', ",", "name|coords", 2),
    (b"x,y\n1,2\n3,4\n-- end --\n", ",", "x|y", 2),
    (b"x,y\n1,2\n3,4\n(2 rows)\n", ",", "x|y", 2),
    (b"x|y\n1|2\n3|4\n(2 rows)\n\n", "|", "x|y", 2),
    (b"Date: 2024-01-31\nUser: ann\n\nid,v\n1,2\n3,4\n5,6\n", ",", "id|v", 3),
    (b"Date,2024-01-31\nUser,ann\n\nid,v,w\n1,2,3\n3,4,5\n5,6,7\n", ",", "id|v|w", 3),
    (b"sep=,\na,b\n1,2\n", ",", "a|b", 1),
    (b'"a";"b"\n"1";"x "y" z"\n"2";"u"\n', ";", "a|b", 2),
    (b'a,b\n1,"x" \n2,"y" \n', ",", "a|b", 2),
    (b"a, b, c\n1, 2, 3\n4, 5, 6\n", ",", "a|b|c", 2),
    (b"Date,2024-01-31,\nUser,ann,\n,,\nid,v,w\n1,2,3\n3,4,5\n5,6,7\n", ",", "id|v|w", 3),
]


def _width(text: bytes, sep: str) -> int:
    """The number of fields of a text's last line, by Python's csv."""
    line = text.decode().splitlines()[-1]
    return len(next(csv.reader([line], delimiter=sep))) if sep else 1


SHORT = [
    Spoiled(
        name=repr(text),
        text=text,
        sep=sep,
        names=None if names is None else tuple(names.split("|")),
        width=_width(text, sep) if names is None else len(names.split("|")),
        rows=rows,
    )
    for text, sep, names, rows in _READINGS
]
