package bind

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// tags are the tags of one field.
type tags struct{ tag reflect.StructTag }

func tagsOf(f reflect.StructField) tags { return tags{tag: f.Tag} }

func (t tags) lookup(name string) (string, bool) { return t.tag.Lookup(name) }

func (t tags) text(name string) string { return t.tag.Get(name) }

// bool reads a tag with true or false into dst. Without the tag, dst does not change.
func (t tags) bool(name string, dst *bool) error {
	switch text, ok := t.lookup(name); {
	case !ok:
		return nil
	case text == "true", text == "false":
		*dst = text == "true"
		return nil
	default:
		return badTag(name, text, "is true or false")
	}
}

// count reads a tag that is a size, and returns -1 when there is none.
func (t tags) count(name string) (int, error) {
	text, ok := t.lookup(name)
	if !ok {
		return -1, nil
	}

	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1, badTag(name, text, "is a number from 0 up")
	}

	return n, nil
}

// span reads two tags that are the least and the greatest size.
func (t tags) span(least, most string) (low, high int, err error) {
	if low, err = t.count(least); err != nil {
		return -1, -1, err
	}
	if high, err = t.count(most); err != nil {
		return -1, -1, err
	}
	if high >= 0 && low > high {
		return -1, -1, badTag(least, t.text(least), "is above "+most)
	}

	return low, high, nil
}

// list reads a tag whose value is a list: separated by commas, or a JSON array.
func (t tags) list(name string) ([]string, bool, error) {
	text, ok := t.lookup(name)
	if !ok {
		return nil, false, nil
	}
	if !strings.HasPrefix(text, "[") {
		return splitCommas([]string{}, text), true, nil
	}

	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, true, badTag(name, text, "is no JSON array")
	}

	items := make([]string, len(raw))
	for i, item := range raw {
		items[i] = string(item)
		if len(item) > 0 && item[0] == '"' {
			if err := json.Unmarshal(item, &items[i]); err != nil {
				return nil, true, badTag(name, text, "is no JSON array")
			}
		}
	}

	return items, true, nil
}

// refuse records a mistake if one of the tags is present.
func (t tags) refuse(why string, names ...string) error {
	for _, name := range names {
		if text, ok := t.lookup(name); ok {
			return badTag(name, text, why)
		}
	}

	return nil
}

func badTag(name, text, why string) error { return fmt.Errorf("the tag %s:%q %s", name, text, why) }
