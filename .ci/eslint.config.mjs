// What eslint holds the script of the page to; .ci/run copies it beside the eslint that it installs.
import js from "@eslint/js";

const AS_MARKUP = "set text as text: whatever stands in the data may be hostile";

export default [
  js.configs.recommended,
  {
    languageOptions: {
      globals: Object.fromEntries([
        "Blob", "CustomEvent", "Element", "Event", "HTMLElement", "HTMLSpanElement", "PointerEvent",
        "ResizeObserver", "URL", "URLSearchParams", "document", "getComputedStyle", "history", "localStorage", "location", "navigator", "window",
      ].map((name) => [name, "readonly"])),
    },
    rules: {
      "eqeqeq": "error",
      "max-len": ["error", { code: 100 }],
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 50],
      "no-console": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-param-reassign": "error",
      "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"]
        .map((property) => ({ property, message: AS_MARKUP }))],
      "no-shadow": ["error", { builtinGlobals: false }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
