// node scripts/install.mjs FOLDER
//
// Does what a new user does: takes a project as "npm create vite" makes one (test/install/app), installs the tarballs that
// pack.mjs has put into the folder, pastes the configuration and each component of packages/react/README.md, and builds.
// The project is left in FOLDER/app, with the last component. A second project, in FOLDER/react18, has React 18.2, and
// runs a page. Exits with 1 when something fails, and with 3 when npm's registry does not answer.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
if (argv[2] === undefined) {
  console.error("usage: node scripts/install.mjs FOLDER");
  exit(2);
}
const folder = resolve(argv[2]);
const app = join(folder, "app");
const tarballs = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
rmSync(app, { recursive: true, force: true });
cpSync(join(root, "test/install/app"), app, { recursive: true });

npm(app);

const readme = readFileSync(join(app, "node_modules/@spool/react/README.md"), "utf8");
const components = [...readme.matchAll(/^```tsx\n(\/\/ src\/App\.tsx[\s\S]*?)^```/gm)]
  .map(([, code]) => code)
  .reverse();
if (components.length < 2) {
  console.error("the README of @spool/react has no components for src/App.tsx");
  exit(1);
}
if (readFileSync(join(root, "../../examples/vite-chat/src/App.tsx"), "utf8") !== components[0]) {
  console.error("examples/vite-chat/src/App.tsx is not the last component of the README of @spool/react");
  exit(1);
}
const [, config] = readme.match(/^```ts\n(\/\/ vite\.config\.ts[\s\S]*?)^```/m) ?? [];
if (config === undefined) {
  console.error("the README of @spool/react has no vite.config.ts");
  exit(1);
}
writeFileSync(join(app, "vite.config.ts"), config);
for (const component of components) {
  writeFileSync(join(app, "src/App.tsx"), component);
  execFileSync("npm", ["run", "build"], { cwd: app, stdio: ["ignore", "ignore", "inherit"] });
  if (!existsSync(join(app, "dist/index.html"))) {
    throw new Error("nothing was built");
  }
}
console.log(`${app}: ${components.length} components of the README build`);

// The oldest React that @spool/react takes.
const old = join(folder, "react18");
rmSync(old, { recursive: true, force: true });
mkdirSync(old);
writeFileSync(join(old, "package.json"), '{"private": true, "type": "module"}');
npm(old, "react@18.2.0", "react-dom@18.2.0");
cpSync(join(root, "test/install/react18.mjs"), join(old, "react18.mjs"));
execFileSync("node", ["react18.mjs", join(root, "package.json")], {
  cwd: old,
  stdio: ["ignore", "inherit", "inherit"],
});

/** Installs the tarballs, and what a project has besides. */
function npm(cwd, ...names) {
  const files = tarballs.map((file) => join(folder, file));
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...files, ...names];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  if (status !== 0) {
    console.error(stdout + stderr);
    exit(/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(stderr) ? 3 : 1);
  }
}
