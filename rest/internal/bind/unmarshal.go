package bind

import (
	"encoding"
	"net/netip"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// unmarshalParser reads a type that unmarshals its own text. The type's error may quote the text or reveal
// the program's insides, so [fault.Own] decides whether a client gets it.
func unmarshalParser(t reflect.Type) parser {
	bad := unmarshalFault(t)

	return func(a place, text string) *fault.Fault {
		if bad := checkText(text); bad != nil {
			return bad
		}

		into, ok := reflect.TypeAssert[encoding.TextUnmarshaler](a.pointer(t))
		if !ok {
			return new(fault.WithText(bad, text))
		}
		if err := into.UnmarshalText([]byte(text)); err != nil {
			if words, own := fault.Own(err, t, text); own && bad.Kind == fault.KindValue {
				return new(fault.Value("", nil, words))
			}

			return new(fault.WithText(bad, text))
		}

		return nil
	}
}

func unmarshalFault(t reflect.Type) fault.Fault {
	name := strings.ToLower(t.Name())

	switch {
	case name == "uuid", name == "decimal":
		return fault.Format("", nil, name)
	case t == reflect.TypeFor[netip.Addr]():
		return fault.WithRule(fault.Value("", nil, "must be an IP address"), fault.Format("", nil, "ip"))
	case t == reflect.TypeFor[netip.Prefix]():
		return fault.Value("", nil, "must be an IP network, such as 192.0.2.0/24")
	default:
		return fault.Value("", nil, "must be "+words(t.Name()))
	}
}

// words returns the name of a type for a person, with its article: "BookID" is "a book id".
func words(name string) string {
	if name == "" {
		return "another value"
	}
	article := "a "
	if strings.ContainsRune("AEIOUaeiou", rune(name[0])) {
		article = "an "
	}

	return article + strings.ReplaceAll(SnakeCase(name), "_", " ")
}
