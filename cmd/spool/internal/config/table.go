package config

import "slices"

// option is an option of the file. To add one, add a row to the table of its section: the reader, the JSON Schema with
// its descriptions, and the keys that an error lists all come from the rows.
type option struct {
	key string
	kind
	// doc describes the option and its default in a line, as an editor shows it.
	doc string
}

// row returns an option. Its kind has the variable that the value goes to.
func row(key string, k kind, doc string) option { return option{key, k, doc} }

// table has the options of a mapping, in the order in which an error lists them. They are read in this order too, so
// that the check of a value may use the values before it.
type table []option

func (t table) keys() []string {
	keys := make([]string, len(t))
	for i, o := range t {
		keys[i] = o.key
	}
	return keys
}

// index returns the place of a key, or -1.
func (t table) index(key string) int {
	return slices.IndexFunc(t, func(o option) bool { return o.key == key })
}

// read reads a mapping whose keys are those of the table.
func (v value) read(t table) { t.read(v.fields(t.keys()...)) }

// read reads the values of a mapping, by their keys. An absent value leaves its variable as it is.
func (t table) read(f map[string]value) {
	for _, late := range []bool{false, true} {
		for _, o := range t {
			switch at := f[o.key]; {
			case o.late != late:
			case at.present():
				o.read(at)
			case o.neededBy(f):
				at.problemf("is required")
			}
		}
	}
}

// neededBy reports whether a mapping must have the value.
func (s shape) neededBy(f map[string]value) bool {
	return s.required || s.whereField != "" && slices.Contains(s.whereWords, f[s.whereField].quiet())
}

// variant is a form of the entries of a section, with the options that only some forms have.
type variant struct {
	// word is the value of the entry's field that names the form.
	word    string
	options table
	// check checks the entry after it was read. It may be nil.
	check func(v value)
}

// variantWords returns the words of the variants.
func variantWords(all []variant) []string {
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = v.word
	}
	return words
}

// readVariant reads the options of the variant with the word, from the values of an entry. Unused describes an option
// that only other variants have.
func (v value) readVariant(f map[string]value, all []variant, word, unused string) {
	i := slices.Index(variantWords(all), word)
	if i < 0 {
		return // the field of the word has a problem
	}
	for _, other := range all {
		for _, o := range other.options {
			if at := f[o.key]; at.present() && all[i].options.index(o.key) < 0 && !at.complained() {
				at.problemf("%s", unused)
			}
		}
	}
	all[i].options.read(f)
	if all[i].check != nil {
		all[i].check(v)
	}
}

// merged returns the options of all variants, each key once. The shape of an option allows what any variant allows.
func merged(all []variant) table {
	var out table
	for _, v := range all {
		for _, o := range v.options {
			if i := out.index(o.key); i >= 0 {
				out[i].shape = out[i].or(o.shape)
			} else {
				out = append(out, o)
			}
		}
	}
	return out
}
