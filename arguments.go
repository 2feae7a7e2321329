package spool

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// CheckArguments returns an [Invalid] error that names field unless [CheckJSON] accepts text and all readers
// would read the same values:
//
//   - no object has a key twice, because some readers take the first value and others the last;
//   - no string has half of a surrogate pair (\ud800), which readers replace, keep or refuse;
//   - no string has a NUL (\u0000), at which some readers end the text.
//
// Arguments of tools must pass: a person, a schema and a digest see them before the tool reads them, each in
// its own way.
func CheckArguments(field string, text json.RawMessage) error {
	if err := CheckJSON(field, text); err != nil {
		return err
	}
	var open []map[string]bool // the keys of each enclosing object, nil for an array
	key := false               // whether the next string is a key
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			open, key = append(open, make(map[string]bool)), true
		case '[':
			open, key = append(open, nil), false
		case '}', ']':
			open, key = open[:len(open)-1], false
		case ',':
			key = open[len(open)-1] != nil
		case ':':
			key = false
		case '"':
			end := endOfString(text, i)
			said, err := oneString(field, text[i:end])
			if err != nil {
				return err
			}
			if key {
				keys := open[len(open)-1]
				if keys[said] {
					return Errorf(Invalid, "%s has the key %s twice in one object", field, quoteShort(said))
				}
				keys[said] = true
			}
			i = end - 1
		}
	}
	return nil
}

// endOfString returns the index after the string that begins at start of valid JSON.
func endOfString(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// oneString returns the value of a string literal of valid JSON, or an error if readers could differ on it.
func oneString(field string, literal []byte) (string, error) {
	for i := 1; i < len(literal)-1; i++ {
		if literal[i] != '\\' {
			continue
		}
		i++
		if literal[i] != 'u' {
			continue
		}
		switch unit := codeUnit(literal[i:]); {
		case unit == 0:
			return "", Errorf(Invalid, `%s has a NUL (\u0000) in a string`, field)
		case unit >= firstHalf && unit <= lastHalf:
			next := literal[i+5:]
			if unit >= secondHalf || !bytes.HasPrefix(next, []byte(`\u`)) || codeUnit(next[1:]) < secondHalf ||
				codeUnit(next[1:]) > lastHalf {
				return "", Errorf(Invalid, `%s has half of a surrogate pair (\u%04x) in a string`, field, unit)
			}
			i += 6
		}
		i += 4
	}
	var said string
	err := json.Unmarshal(literal, &said)
	return said, err
}

// codeUnit returns the number of the escape "u0041", and the text after it.
func codeUnit(text []byte) uint64 {
	n, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	if err != nil {
		panic("spool: the escape of valid JSON: " + err.Error())
	}
	return n
}

// The halves of surrogate pairs: a first one is below secondHalf.
const (
	firstHalf  = 0xd800
	secondHalf = 0xdc00
	lastHalf   = 0xdfff
)

// quoteShort quotes the beginning of a text for an error.
func quoteShort(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}
