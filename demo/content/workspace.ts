import type { DemoWorkspace } from "./types.ts";

/**
 * Wrackline Instruments, a fictional maker of water-quality buoys ("Heron") and of their dashboard ("Tideline"). It has
 * about seventy employees, twelve of whom use Parley.
 */
export const demoWorkspace: DemoWorkspace = {
  name: "Wrackline Instruments",
  emailDomains: ["wrackline.example", "wrackline-japan.example"],
  teams: ["Devices", "Platform", "Customers", "Operations"],
  users: [
    // Chief executive, one of the two founders
    { name: "Marit Aalvik", email: "marit.aalvik@wrackline.example", role: "admin", teams: ["Operations"] },
    // Head of engineering, hardware and software
    {
      name: "Devika Raghunathan",
      email: "devika.raghunathan@wrackline.example",
      role: "admin",
      teams: ["Devices", "Platform"],
    },
    // People and finance
    {
      name: "Caitlín Ní Bhroin",
      email: "caitlin.nibhroin@wrackline.example",
      role: "admin",
      teams: ["Operations"],
    },
    // Product manager, Heron and Tideline
    {
      name: "Gwen Pritchard-Owusu",
      email: "gwen.pritchard-owusu@wrackline.example",
      role: "member",
      teams: ["Devices", "Customers"],
    },
    // Firmware engineer
    { name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example", role: "member", teams: ["Devices"] },
    // Manufacturing and supply
    {
      name: "Aurélie Quémener",
      email: "aurelie.quemener@wrackline.example",
      role: "member",
      teams: ["Devices", "Operations"],
    },
    // Platform lead: ingest, alerts, infrastructure
    { name: "Seun Oyelaran", email: "seun.oyelaran@wrackline.example", role: "member", teams: ["Platform"] },
    // Platform engineer, half of the on-call rota
    {
      name: "Rafael Teixeira Pinho",
      email: "rafael.pinho@wrackline.example",
      role: "member",
      teams: ["Platform"],
    },
    // Front end and design of Tideline
    {
      name: "Samir Haddadine",
      email: "samir.haddadine@wrackline.example",
      role: "member",
      teams: ["Platform"],
    },
    // Support lead
    {
      name: "Nomvula Khoza",
      email: "nomvula.khoza@wrackline.example",
      role: "member",
      teams: ["Customers"],
    },
    // Sales, German-speaking countries and harbours
    {
      name: "Lukas Brandtner",
      email: "lukas.brandtner@wrackline.example",
      role: "member",
      teams: ["Customers"],
    },
    // Field applications; prepares the launch in Japan
    {
      name: "Hana Tsukada",
      email: "hana.tsukada@wrackline-japan.example",
      role: "member",
      teams: ["Customers", "Devices"],
    },
  ],
};
