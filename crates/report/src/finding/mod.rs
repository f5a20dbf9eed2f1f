//! Findings as text, as Markdown, as a page, as metrics and as data.

mod cluster_report;
pub mod code_explanation;
pub mod diagnosis_report;
mod first_screen;
mod gaps;
pub mod html;
pub mod markdown;
pub mod prometheus;
pub mod short_findings;
pub mod subjects;
pub mod text;
