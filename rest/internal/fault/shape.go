package fault

import "fmt"

// ListType is something else than a list where one is wanted.
func ListType(in string, path []any) Fault {
	return New(in, path, KindListType, "Input should be a valid list")
}

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
	return sized(in, path, KindListTooShort, "Dictionary", "min_length", limit, actual)
}

// DictTooLong is an object with more entries than the limit.
func DictTooLong(in string, path []any, limit, actual int) Fault {
	return sized(in, path, KindListTooLong, "Dictionary", "max_length", limit, actual)
}

func sized(in string, path []any, kind, field, name string, limit, actual int) Fault {
	bound := "at least"
	if kind == KindListTooLong {
		bound = "at most"
	}

	return Fault{
		In: in, Path: path, Kind: kind,
		Message: fmt.Sprintf("%s should have %s %s after validation, not %d",
			field, bound, count(limit, "item"), actual),
		Limits: map[string]any{"field_type": field, name: limit, "actual_length": actual},
	}
}

// ListUnique is a list that has an item twice.
func ListUnique(in string, path []any) Fault {
	return New(in, path, KindListUnique, "List items should be unique")
}

// DictType is something else than an object where a map is wanted.
func DictType(in string, path []any) Fault {
	return New(in, path, KindDictType, "Input should be a valid dictionary")
}

// ModelType is something else than an object where the named type is wanted.
func ModelType(in string, path []any, class string) Fault {
	if class == "" {
		return New(in, path, KindModelType, "Input should be a valid object")
	}

	return limited(in, path, KindModelType,
		"Input should be a valid object of "+class, "class_name", class)
}
