// Puts the licence into the package that npm packs, where npm looks for it. Git ignores the copy.
import { copyFileSync } from "node:fs";

copyFileSync(new URL("../../../LICENSE", import.meta.url), "LICENSE");
