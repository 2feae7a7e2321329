package filepart_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
)

func TestWhatModelsRead(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		part       spool.Part
		text, note string
	}{
		"text": {
			spool.Part{File: "data:text/csv;base64,YSxi", FileName: "a.csv"},
			"The file \"a.csv\":\n\na,b\n", `[a file "a.csv" of the type text/csv, which cannot be shown]`,
		},
		"type of the part": {
			spool.Part{File: "DATA:application/octet-stream,a%20b", MIMEType: "text/markdown; charset=utf-8"},
			"The file \"without a name\":\n\na b\n", "[a file of the type text/markdown, which cannot be shown]",
		},
		"type of the data": {
			spool.Part{File: "data:application/json,{}", MIMEType: "application/octet-stream"},
			"The file \"without a name\":\n\n{}\n", "[a file of the type application/json, which cannot be shown]",
		},
		"no text": {
			spool.Part{File: "data:application/zip;base64,UEs="},
			"",
			"[a file of the type application/zip, which cannot be shown]",
		},
		"bad text": {
			spool.Part{File: "data:text/plain;base64,//79"}, "", "[a file of the type text/plain, which cannot be shown]",
		},
		"bad data": {
			spool.Part{File: "data:text/plain;base64,%%"}, "", "[a file of the type text/plain, which cannot be shown]",
		},
		"no data": {spool.Part{File: "data:text/plain"}, "", "[a file of the type text/plain, which cannot be shown]"},
		"elsewhere": {
			spool.Part{File: "https://example.com/a.csv", MIMEType: "text/csv"},
			"",
			"[a file of the type text/csv at https://example.com/a.csv, which cannot be shown]",
		},
		"nothing": {spool.Part{}, "", "[a file, which cannot be shown]"},
	} {
		text, ok := filepart.Text(c.part)
		if text != c.text || ok != (c.text != "") || filepart.Note(c.part) != c.note {
			t.Errorf("%s: text %q (%v), note %q", name, text, ok, filepart.Note(c.part))
		}
	}
}
