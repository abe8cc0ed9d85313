// Loaded together, because they share parts that no other page would then have to load.
export { ConnectionsPage } from "./connections/page.tsx";
export { ImportsPage } from "./imports/page.tsx";
