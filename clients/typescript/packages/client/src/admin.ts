// The operations of those who operate a server. They need the scope admin.
export {};
