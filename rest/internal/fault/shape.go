package fault

import "strconv"

// dictionary is what an object of any keys is called in the limits.
const dictionary = "Dictionary"

const anObject = "must be an object"

// ListType is something else than a list where one is wanted.
func ListType(in string, path []any) Fault { return New(in, path, KindListType, "must be a list") }

// ListTooShort is a list with fewer items than the limit.
func ListTooShort(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooShort, "List", "min_length", limit, actual)
}

// ListTooLong is a list with more items than the limit.
func ListTooLong(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooLong, "List", "max_length", limit, actual)
}

// DictTooShort is an object with fewer entries than the limit.
func DictTooShort(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooShort, dictionary, "min_length", limit, actual)
}

// DictTooLong is an object with more entries than the limit.
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

// ListUnique is a list that has an item twice.
func ListUnique(in string, path []any) Fault {
	return New(in, path, KindListUnique, "must not have the same item twice")
}

// DictType is something else than an object where a map is wanted.
func DictType(in string, path []any) Fault { return New(in, path, KindDictType, anObject) }

// ModelType is something else than an object where the named type is wanted.
func ModelType(in string, path []any, class string) Fault {
	if class == "" {
		return New(in, path, KindModelType, anObject)
	}

	return Limited(in, path, KindModelType, anObject, "class_name", class)
}
