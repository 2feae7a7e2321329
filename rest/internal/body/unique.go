package body

import "slices"

// keySet has the keys of the maps that are open, and the items of the lists that are unique.
type keySet struct {
	keys    []string
	indexes map[int]map[string]struct{} // of keys from an index on, where they are many
}

// unique adds key to the keys since base, and reports whether it was new. Inner objects and lists have
// already removed their keys.
func (k *keySet) unique(key []byte, base int) bool {
	const few = 16

	text := view(key)
	if n := len(k.keys) - base; n < few {
		if slices.Contains(k.keys[base:], text) {
			return false
		}
	} else if !k.uniqueOfMany(text, base, n) {
		return false
	}
	k.keys = append(k.keys, text)

	return true
}

// uniqueOfMany is unique for an object or list with many entries. It uses a map: comparing each with each
// would let a large document keep the server busy.
func (k *keySet) uniqueOfMany(text string, base, n int) bool {
	index := k.indexes[base]
	if index == nil {
		index = make(map[string]struct{}, 4*n)
		for _, other := range k.keys[base:] {
			index[other] = struct{}{}
		}
		if k.indexes == nil {
			k.indexes = map[int]map[string]struct{}{}
		}
		k.indexes[base] = index
	}
	if _, again := index[text]; again {
		return false
	}
	index[text] = struct{}{}

	return true
}

// forget removes the keys from base on.
func (k *keySet) forget(base int) {
	k.keys = k.keys[:base]
	if len(k.indexes) > 0 {
		delete(k.indexes, base)
	}
}
