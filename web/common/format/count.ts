export { counted } from "../../../contract/counted.ts";
