// Package price knows what the use of models costs: by a table of rates per million
// tokens, by what a provider itself says that a call cost, and by several of these in
// turn. All of them are [spool.Pricer] values, and none makes a request.
//
// Costs are whole millionths of a currency. A call is priced as one: the counts times
// their rates are added up exactly, and the sum is rounded once, a half upwards.
package price
