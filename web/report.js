// The entry of the page in a file.
import { AddressState } from "./parts/state.js";
import { EmbeddedSource } from "./data/source.js";
import { App } from "./app.js";

new App(new EmbeddedSource(document), new AddressState(window),
        /** @type {HTMLElement} */ (document.getElementById("app"))).start();
