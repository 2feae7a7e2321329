package config

import "slices"

// The kinds of values, by the method that reads them.
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

// shape records what the decoder does with a value. The JSON Schema is made from these records, so it
// cannot differ from the decoder. A nil shape records nothing.
type shape struct {
	kind     string
	required bool
	// whereField and whereWords say which mappings require the value: the mappings whose field whereField
	// has one of whereWords.
	whereField string
	whereWords []string
	// fields are the fields of a mapping with known keys.
	fields map[string]*shape
	// each is an entry of a mapping with free keys, or an item of a list.
	each *shape
	// text is true if a text may stand in place of a mapping.
	text bool
	// words are the values of a text. Empty: any text.
	words       []string
	least, most float64
}

// is records the kind of a value. Any other kind replaces the kind text.
func (s *shape) is(kind string) {
	if s != nil && (s.kind == "" || s.kind == kindText) {
		s.kind = kind
	}
}

func (s *shape) require() {
	if s != nil {
		s.required = true
	}
}

func (s *shape) requireWhere(field, word string) {
	if s != nil {
		s.whereField, s.whereWords = field, with(s.whereWords, word)
	}
}

// enumerate adds words that a text may be. Mappings of different kinds may allow different ones.
func (s *shape) enumerate(words []string) {
	if s != nil {
		s.words = with(s.words, words...)
	}
}

// orText records that a text may stand in place of the mapping.
func (s *shape) orText() {
	if s != nil {
		s.text = true
	}
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

func (s *shape) integer(least int) {
	if s == nil {
		return
	}
	if s.kind == kindInteger { // mappings of different kinds may have different bounds
		least = min(least, int(s.least))
	}
	s.kind, s.least = kindInteger, float64(least)
}

func (s *shape) within(least, most float64) {
	if s != nil {
		s.kind, s.least, s.most = kindNumber, least, most
	}
}

// field returns the shape of a field.
func (s *shape) field(name string) *shape {
	if s == nil {
		return nil
	}
	s.is(kindFields)
	if s.fields == nil {
		s.fields = make(map[string]*shape)
	}
	if s.fields[name] == nil {
		s.fields[name] = &shape{}
	}
	return s.fields[name]
}

// entry returns the shape of all entries.
func (s *shape) entry() *shape { return s.eachOf(kindMapping) }

// item returns the shape of all items.
func (s *shape) item() *shape { return s.eachOf(kindList) }

func (s *shape) eachOf(kind string) *shape {
	if s == nil {
		return nil
	}
	s.is(kind)
	if s.each == nil {
		s.each = &shape{}
	}
	return s.each
}
