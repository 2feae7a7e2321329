package spool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
)

func TestCheckArguments(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`{"a":1}`: "",
		`{}`:      "",
		` { "a" : { "a" : [ { "a" : 1 } , { "a" : "a" } , "a" , "a" ] } , "b" : "a" } `: "",
		`[[],{},[{"x":1}],"x"]`: "",
		`"a"`:                   "",
		`1`:                     "",
		`{"a":"\ud83d\ude00","b":"\uD83D\uDE00 \\ud800 \\u0000"}`: "",
		`{"a":"é","A":1,"":2,"\"":3,"\\":4}`:                      "",

		`{"a":1,"a":2}`:                 `has the key "a" twice`,
		`{"a":1,"b":2,"\u0061":3}`:      `has the key "a" twice`,
		`{"x":[{"a":1,"b":{},"a":[]}]}`: `has the key "a" twice`,
		`{"":1,"":1}`:                   `has the key "" twice`,
		`{"a":{"b":1},"a":1}`:           `has the key "a" twice`,
		`{"` + strings.Repeat("k", 200) + `":1,"` + strings.Repeat("k", 200) + `":1}`: `k..." twice`,
		`{"a":"\ud800"}`:          `half of a surrogate pair (\ud800)`,
		`{"a":"\ud800x"}`:         `half of a surrogate pair (\ud800)`,
		`{"a":"\ud800\u0041"}`:    `half of a surrogate pair (\ud800)`,
		`{"a":"\ud800\ud800"}`:    `half of a surrogate pair (\ud800)`,
		`{"a":"\uDFFF"}`:          `half of a surrogate pair (\udfff)`,
		`{"a":"\ude00\ud83d"}`:    `half of a surrogate pair (\ude00)`,
		`{"\ud800":1,"\ud801":1}`: `half of a surrogate pair (\ud800)`,
		`{"a":"\ud800\\u"}`:       `half of a surrogate pair (\ud800)`,
		`{"a":"x\u0000"}`:         `has a NUL`,
		`{"a`:                     `is not JSON`,
		"\"\xff\"":                `is not valid UTF-8`,
	} {
		err := spool.CheckArguments("arguments", json.RawMessage(text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), "arguments ") ||
			!strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// FuzzCheckArguments compares readers that differ in all that JSON leaves open. What
// CheckArguments allows they read alike, and what they read alike it allows, but for a NUL.
func FuzzCheckArguments(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"a":2}`, `{"a":"\ud800"}`, `{"a":"\ud83d\ude00","b":[{"b":"\ufffd"}]}`, `{"a":"x\u0000"}`,
		`[1,{"a":[],"\u0061":0}]`, `"\\ud800"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if spool.CheckJSON("", text) != nil {
			if spool.CheckArguments("", text) == nil {
				t.Fatalf("%q is no JSON, and allowed", text)
			}
			return
		}
		first, again := readFirst(t, text)
		var last any
		if err := numbers(text).Decode(&last); err != nil {
			t.Fatal(err)
		}
		alike := !again && halves(text) == 0
		nul := strings.Contains(strings.ReplaceAll(string(text), `\\`, ""), `\u0000`)
		switch err := spool.CheckArguments("", text); {
		case err == nil && !alike:
			t.Errorf("%q is allowed", text)
		case err == nil:
			if diff := cmp.Diff(first, last); diff != "" {
				t.Errorf("%q has two readings:\n%s", text, diff)
			}
		case alike && !nul:
			t.Errorf("%q is refused: %v", text, err)
		}
	})
}

func numbers(text []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d
}

// readFirst reads JSON and takes the first value of a key. It reports whether a key came again.
func readFirst(t *testing.T, text []byte) (value any, again bool) {
	t.Helper()

	d := numbers(text)
	var read func(token json.Token) any
	next := func() json.Token {
		token, err := d.Token()
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		return token
	}
	read = func(token json.Token) any {
		switch token {
		case json.Delim('['):
			list := []any{}
			for d.More() {
				list = append(list, read(next()))
			}
			next()
			return list
		case json.Delim('{'):
			object := map[string]any{}
			for d.More() {
				key, _ := next().(string)
				v := read(next())
				if _, have := object[key]; have {
					again = true
					continue
				}
				object[key] = v
			}
			next()
			return object
		default:
			return token
		}
	}
	return read(next()), again
}

// halves counts the halves of surrogate pairs: package json replaces each with U+FFFD, of which
// there are as many more than the text says itself.
func halves(text []byte) int {
	said := strings.Count(string(text), "\ufffd")
	plain := strings.ReplaceAll(string(text), `\\`, "")
	said += strings.Count(strings.ToLower(plain), `\ufffd`)
	n := -said
	d := numbers(text)
	for {
		token, err := d.Token()
		if err != nil {
			return n
		}
		if s, ok := token.(string); ok && utf8.ValidString(s) {
			n += strings.Count(s, "\ufffd")
		}
	}
}
