import { z } from "zod";

/** Whether `Intl` knows a time zone, and by a name that the database takes. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z0-9_+/-]{1,100}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A time zone in requests. */
export const TimeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, "must be a time zone of the IANA database, as Europe/Berlin");
