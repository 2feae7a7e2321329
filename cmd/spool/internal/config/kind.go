package config

import (
	"encoding/json"
	"slices"
	"time"
)

// The kinds of values, for the JSON Schema.
const (
	kindText           = "text"
	kindBoolean        = "boolean"
	kindInteger        = "integer"
	kindNumber         = "number"
	kindDuration       = "duration"
	kindDurationOrNone = "duration or 0"
	kindTime           = "time"
	kindURL            = "url"
	kindFields         = "fields"
	kindMapping        = "mapping"
	kindList           = "list"
	kindObject         = "object"
)

// kind says what a value may be, and how it is read.
type kind struct {
	shape

	// read reads a value that is present into the variable for which the kind was made.
	read func(v value)
	// late values are read after the others of their mapping, because they refer to them.
	late bool
}

// shape says what a value may be.
type shape struct {
	kind     string
	required bool
	// whereField and whereWords require the value in the mappings whose field whereField has one of whereWords.
	whereField string
	whereWords []string
	// options are those of a mapping with known keys.
	options table
	// each is an entry of a mapping with free keys, or an item of a list.
	each *shape
	// text is true if a text may stand in place of a mapping.
	text bool
	// words are the values of a text. Empty: any text.
	words       []string
	least, most float64
}

// or returns a shape that allows what either of two shapes of the same kind allows.
func (s shape) or(other shape) shape {
	s.words = with(slices.Clone(s.words), other.words...)
	s.whereWords = with(slices.Clone(s.whereWords), other.whereWords...)
	s.least, s.most = min(s.least, other.least), max(s.most, other.most)
	return s
}

// with returns a list with further words, each once.
func with(list []string, more ...string) []string {
	for _, word := range more {
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// of returns a kind that sets a variable to what read returns.
func of[T any](s shape, to *T, read func(v value) T) kind {
	return kind{shape: s, read: func(v value) { *to = read(v) }}
}

// required returns a kind of values that must be there.
func required(k kind) kind {
	k.required = true
	return k
}

// requiredIf returns a kind of values that must be there if another field of the mapping has the word.
func requiredIf(field, word string, k kind) kind {
	k.whereField, k.whereWords = field, []string{word}
	return k
}

// late returns a kind that is read after the others of its mapping.
func late(k kind) kind {
	k.late = true
	return k
}

// then returns a kind that checks the value after it was read.
func (k kind) then(check func(v value)) kind {
	read := k.read
	k.read = func(v value) {
		read(v)
		check(v)
	}
	return k
}

// filled returns a kind of lists that must not be empty.
func filled(k kind) kind {
	return k.then(func(v value) {
		if len(v.node.Content) == 0 && !v.complained() {
			v.problemf("is empty")
		}
	})
}

// noting returns a kind that hands the values of the environment in the value to use.
func noting(k kind, use func(used []string)) kind {
	read := k.read
	k.read = func(v value) {
		before := len(v.d.used)
		read(v)
		use(v.d.used[before:])
	}
	return k
}

// secret returns a kind that adds the values of the environment in the value to a list of secrets.
func secret(secrets *[]string, k kind) kind {
	return noting(k, func(used []string) { *secrets = append(*secrets, used...) })
}

func text[S ~string](to *S) kind {
	return of(shape{kind: kindText}, to, func(v value) S { return S(v.text()) })
}

// word is a text that must not be empty or have white space.
func word(to *string) kind { return of(shape{kind: kindText}, to, value.word) }

// optionalWord is a text that must not have white space, and may be empty.
func optionalWord(to *string) kind { return of(shape{kind: kindText}, to, value.optionalWord) }

// oneOf is one of some words, or empty.
func oneOf[S ~string](to *S, words ...string) kind {
	return text(to).among(words, func() string { return string(*to) })
}

// form is a required field that names the form of its mapping.
func form(to *string, words ...string) kind {
	return required(word(to).among(words, func() string { return *to }))
}

// among returns a kind of texts that must be one of some words. Got returns the text that was read.
func (k kind) among(words []string, got func() string) kind {
	k.words = words
	return k.then(func(v value) { v.among(got(), words...) })
}

func boolean(to *bool) kind { return of(shape{kind: kindBoolean}, to, value.boolean) }

// optionalBoolean sets a pointer, which stays nil without the option.
func optionalBoolean(to **bool) kind {
	return of(shape{kind: kindBoolean}, to, func(v value) *bool { return new(v.boolean()) })
}

// off is a switch that is on by default. It sets a variable of the opposite meaning.
func off(to *bool) kind {
	return of(shape{kind: kindBoolean}, to, func(v value) bool { return !v.boolean() })
}

// integer is a whole number of at least one.
func integer[N ~int | ~int64](to *N) kind { return atLeast(to, 1) }

// atLeast is a whole number of at least least.
func atLeast[N ~int | ~int64](to *N, least int) kind {
	return of(shape{kind: kindInteger, least: float64(least)}, to, func(v value) N { return N(v.atLeast(least)) })
}

// most is a limit for which 0 means that nothing is allowed. It sets a negative number for 0.
func most(to *int) kind {
	return atLeast(to, 0).then(func(value) {
		if *to == 0 {
			*to = -1
		}
	})
}

// number is a number from least to most. It sets a pointer, which stays nil without the option.
func number(to **float64, least, most float64) kind {
	return of(shape{kind: kindNumber, least: least, most: most}, to,
		func(v value) *float64 { return v.number(least, most) })
}

func duration(to *time.Duration) kind { return of(shape{kind: kindDuration}, to, value.duration) }

// durationOrNone is a duration, or 0 with the meaning that none describes. It sets a negative duration for 0.
func durationOrNone(to *time.Duration, none, example string) kind {
	read := func(v value) time.Duration { return v.durationOrNone(none, example) }
	return of(shape{kind: kindDurationOrNone}, to, read)
}

// date is one of some dates, without quotes or with them.
func date(to *string, dates ...string) kind {
	return of(shape{kind: kindText}, to, value.date).among(dates, func() string { return *to })
}

func timeOf(to *time.Time) kind { return of(shape{kind: kindTime}, to, value.time) }

func httpURL(to *string) kind { return of(shape{kind: kindURL}, to, value.url) }

// list is a list of texts that item reads.
func list[T any](to *[]T, item func(v value) T) kind {
	return listOf(to, shape{kind: kindText}, item)
}

// listOf is a list whose items have a shape.
func listOf[T any](to *[]T, each shape, item func(v value) T) kind {
	return kind{shape: shape{kind: kindList, each: &each}, read: func(v value) {
		for _, at := range v.items() {
			*to = append(*to, item(at))
		}
	}}
}

// words is a list of words that must not be empty if it exists.
func words(to *[]string) kind { return filled(list(to, value.word)) }

// texts is a list of texts that must not be empty if it exists.
func texts(to *[]string) kind { return filled(list(to, value.filledText)) }

// fields is a mapping with the options of a table.
func fields(t table) kind {
	return kind{shape: shape{kind: kindFields, options: t}, read: func(v value) { v.read(t) }}
}

// optional is a mapping with the options of a table. It sets a pointer, which stays nil without the mapping.
func optional[T any](to **T, options func(t *T) table) kind {
	return kind{shape: shape{kind: kindFields, options: options(new(T))}, read: func(v value) {
		t := new(T)
		if s, ok := any(t).(interface{ place(at Source) }); ok {
			s.place(v.source())
		}
		v.read(options(t))
		*to = t
	}}
}

// entries is a mapping whose keys the file chooses, with the options of t in each entry, which each reads.
func entries(t table, each func(e entry)) kind {
	return mapping(shape{kind: kindFields, options: t}, each)
}

func mapping(s shape, each func(e entry)) kind {
	return kind{shape: shape{kind: kindMapping, each: &s}, read: func(v value) {
		for _, e := range v.entries() {
			each(e)
		}
	}}
}

// textList is a list of texts.
var textList = shape{kind: kindList, each: &shape{kind: kindText}}

// textsByName is a mapping of texts whose keys the file chooses. Check judges an entry.
func textsByName(to *map[string]string, check func(e entry)) kind {
	return mapping(shape{kind: kindText}, func(e entry) {
		check(e)
		put(to, e.name, e.text())
	})
}

// put adds to a map, which may be nil.
func put[T any](to *map[string]T, key string, t T) {
	if *to == nil {
		*to = make(map[string]T)
	}
	(*to)[key] = t
}

// object is a free mapping.
func object(to *json.RawMessage, within *map[string]Source) kind {
	return kind{shape: shape{kind: kindObject}, read: func(v value) { *to, *within = v.object() }}
}
