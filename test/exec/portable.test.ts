import { driverLaws } from "./driver-laws.ts";

driverLaws("portable");
