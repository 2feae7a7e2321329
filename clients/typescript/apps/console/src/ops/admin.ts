import { createAdmin } from "@spool/client/admin";
import { client } from "../session.js";

/** The operations of operators. */
export const admin = createAdmin(client);

/** How often the screens of operators are read again, in milliseconds. */
export const every = 3000;
