package fault

import "strconv"

// dictionary is the name in limits for an object with any keys.
const dictionary = "Dictionary"

const anObject = "must be an object"

// ListType returns the fault of a value that is not a list where one is required.
func ListType(in string, path []any) Fault { return New(in, path, KindListType, "must be a list") }

// ListTooShort returns the fault of a list with fewer items than the limit.
func ListTooShort(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooShort, "List", "min_length", limit, actual)
}

// ListTooLong returns the fault of a list with more items than the limit.
func ListTooLong(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooLong, "List", "max_length", limit, actual)
}

// DictTooShort returns the fault of an object with fewer entries than the limit.
func DictTooShort(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooShort, dictionary, "min_length", limit, actual)
}

// DictTooLong returns the fault of an object with more entries than the limit.
func DictTooLong(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooLong, dictionary, "max_length", limit, actual)
}

func sized(in string, path []any, kind, field, name string, limit, actual int) Fault {
	bound := "must have at least "
	if kind == KindListTooLong {
		bound = "must have at most "
	}
	one, many := "item", "items"
	if field == dictionary {
		one, many = "entry", "entries"
	}
	message := bound + count(limit, one, many) + ", not " + strconv.Itoa(actual)

	return Fault{
		In: in, Path: path, Kind: kind, Message: message, said: message,
		Limits: map[string]any{"field_type": field, name: limit, "actual_length": actual},
	}
}

// ListUnique returns the fault of a list that has an item twice.
func ListUnique(in string, path []any) Fault {
	return New(in, path, KindListUnique, "must not have the same item twice")
}

// DictType returns the fault of a value that is not an object where a map is required.
func DictType(in string, path []any) Fault { return New(in, path, KindDictType, anObject) }

// ModelType returns the fault of a value that is not an object where the named type is required.
func ModelType(in string, path []any, class string) Fault {
	if class == "" {
		return New(in, path, KindModelType, anObject)
	}

	return Limited(in, path, KindModelType, anObject, "class_name", class)
}
