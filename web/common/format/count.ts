export { counted } from "../../../shared/counted.ts";
