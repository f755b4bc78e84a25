// Runs a WebAssembly program in Node with this machine's variables: node .ci/wasi.mjs PROGRAM [ARGUMENTS]
// It sees the folder above this repository, where the test models are, and that for temporary files.
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const folders = [resolve(import.meta.dirname, "../.."), tmpdir()];
const wasi = new WASI({
    version: "preview1",
    args: [program, ...args],
    // The program knows no working folder.
    env: { ...process.env, PWD: undefined },
    preopens: Object.fromEntries(folders.map((folder) => [folder, folder])),
    returnOnExit: true,
});
// Node 20 crashes if an import is called directly after the memory has grown by much; by way of a function it does not.
const imports = wasi.getImportObject();
for (const names of Object.values(imports)) {
    for (const [name, call] of Object.entries(names)) {
        names[name] = (...values) => call(...values);
    }
}
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, imports);
process.exitCode = wasi.start(instance);
