package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// The kinds of [Fault.Kind]. Clients compare them, so they never change.
const (
	KindMissing         = "missing"
	KindExtra           = "extra_forbidden"
	KindDuplicateKey    = "duplicate_key"
	KindKeyCase         = "key_case_mismatch"
	KindJSON            = "json_invalid"
	KindDepth           = "recursion_limit"
	KindTooManyFaults   = "too_many_errors"
	KindNull            = "null_forbidden"
	KindIntType         = "int_type"
	KindIntParsing      = "int_parsing"
	KindIntFromFloat    = "int_from_float"
	KindIntOverflow     = "int_overflow"
	KindFloatType       = "float_type"
	KindFloatParsing    = "float_parsing"
	KindFloatOverflow   = "float_overflow"
	KindNotFinite       = "finite_number"
	KindBoolType        = "bool_type"
	KindBoolParsing     = "bool_parsing"
	KindStringType      = "string_type"
	KindTooShort        = "string_too_short"
	KindTooLong         = "string_too_long"
	KindPattern         = "string_pattern_mismatch"
	KindGreater         = "greater_than"
	KindGreaterEqual    = "greater_than_equal"
	KindLess            = "less_than"
	KindLessEqual       = "less_than_equal"
	KindMultipleOf      = "multiple_of"
	KindListType        = "list_type"
	KindListTooShort    = "too_short"
	KindListTooLong     = "too_long"
	KindListUnique      = "list_not_unique"
	KindDictType        = "dict_type"
	KindModelType       = "model_type"
	KindEnum            = "enum"
	KindUUID            = "uuid_parsing"
	KindDateTime        = "datetime_parsing"
	KindDate            = "date_parsing"
	KindTime            = "time_parsing"
	KindDuration        = "time_delta_parsing"
	KindURL             = "url_parsing"
	KindEmail           = "email_parsing"
	KindIP              = "ip_any_address"
	KindIPv4            = "ip_v4_address"
	KindIPv6            = "ip_v6_address"
	KindHostname        = "hostname_parsing"
	KindNUL             = "string_nul"
	KindUnicode         = "string_unicode"
	KindBytes           = "bytes_invalid_encoding"
	KindDecimal         = "decimal_parsing"
	KindFormat          = "format_mismatch"
	KindValue           = "value_error"
	KindFileTooLarge    = "file_too_large"
	KindFileContentType = "file_content_type"
)

// New returns a fault of a kind without a constructor here. The message must not have the sent value in it.
func New(in string, path []any, kind, message string) Fault {
	return Fault{In: in, Path: path, Kind: kind, Message: message, said: message}
}

// Limited is [New] with one limit.
func Limited(in string, path []any, kind, message, name string, limit any) Fault {
	return Fault{In: in, Path: path, Kind: kind, Message: message, Limits: map[string]any{name: limit}, said: message}
}

// Missing returns the fault of a required value that was not sent.
func Missing(in string, path []any) Fault { return New(in, path, KindMissing, "is required") }

// Extra returns the fault of an unknown name, where such names are refused.
func Extra(in string, path []any) Fault {
	if in == Body || in == Form || in == File {
		return New(in, path, KindExtra, "is not a known field")
	}

	return New(in, path, KindExtra, "is not a known parameter")
}

// DuplicateKey returns the fault of a name that was sent twice and may be sent once.
func DuplicateKey(in string, path []any) Fault {
	return New(in, path, KindDuplicateKey, "must be given only once")
}

// KeyCase returns the fault of a name that differs from a known one only in case. Decoders disagree about the
// meaning of such a name, so it is refused.
func KeyCase(in string, path []any, want string) Fault {
	return Limited(in, path, KindKeyCase, "must be spelled '"+want+"'", "expected", want)
}

// JSON returns the fault of text that is not JSON. The offset counts bytes from 0.
func JSON(in string, offset int, reason string) Fault {
	return Limited(in, nil, KindJSON,
		"is not valid JSON: "+reason+" at byte "+strconv.Itoa(offset), "offset", offset)
}

// Depth returns the fault of a document that is nested deeper than it may be.
func Depth(in string, path []any, maxDepth int) Fault {
	return Limited(in, path, KindDepth,
		"must be nested at most "+count(maxDepth, "level", "levels")+" deep", "max_depth", maxDepth)
}

// TooManyFaults returns the fault at the end of an incomplete list of faults.
func TooManyFaults(in string, limit int) Fault {
	return Limited(in, nil, KindTooManyFaults,
		"has more errors, of which only the first "+strconv.Itoa(limit)+" are listed", "max_errors", limit)
}

// Null returns the fault of a null where a value is required and no other kind fits.
func Null(in string, path []any) Fault { return New(in, path, KindNull, "must not be null") }

// Enum returns the fault of a value that is not one of the allowed ones.
func Enum(in string, path []any, allowed []any) Fault {
	words := make([]string, len(allowed))
	for i, value := range allowed {
		if text, ok := value.(string); ok {
			words[i] = "'" + text + "'"
		} else {
			words[i] = fmt.Sprint(value)
		}
	}

	expected := strings.Join(words, ", ")
	if last := len(words) - 1; last > 0 {
		expected = strings.Join(words[:last], ", ") + " or " + words[last]
	}

	return Limited(in, path, KindEnum, "must be "+expected, "expected", expected)
}

// NUL returns the fault of a text with a NUL character, which databases and terminals cannot handle.
func NUL(in string, path []any) Fault {
	return New(in, path, KindNUL, "must not contain NUL characters")
}

// Unicode returns the fault of a text that is not Unicode: its bytes are not UTF-8, or an escape of JSON names
// half of a surrogate pair.
func Unicode(in string, path []any) Fault { return New(in, path, KindUnicode, "must be valid UTF-8") }

// Unreadable returns the fault of a value that a type of the program refuses.
func Unreadable(in string, path []any) Fault { return New(in, path, KindValue, "cannot be read") }

// Value returns the fault of a value that a rule of the program refused. The message says why: "must be ...".
func Value(in string, path []any, message string) Fault { return New(in, path, KindValue, message) }
