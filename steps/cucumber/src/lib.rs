//! The crate cucumber, under whose name the crate `steps` uses this one.
//!
//! cucumber's macros make a type of its own for the parameters of each step, and expand the step's expression by code that is generic over
//! that type: hundreds of copies, which made the compiled steps twice as large. Here all steps share one copy. All else is
//! cucumber's.

pub use cucumber::*;

/// Items that the code of cucumber's macros names.
#[doc(hidden)]
pub mod codegen {
    pub use cucumber::codegen::*;

    /// Takes the place of [`cucumber::codegen::Expression`] in the code of macros.
    #[derive(Debug)]
    pub struct Expression;

    impl Expression {
        /// Returns the regular expression of a step's expression. `parameters` returns the regular expression of a parameter's name.
        ///
        /// # Errors
        /// Returns the error of the expression. cucumber's macros have checked it before.
        pub fn regex_with_parameters<P>(expression: &str, parameters: P) -> Result<Regex, String>
        where
            P: for<'s> ParametersProvider<Spanned<'s>, Value = &'static str>,
        {
            regex(expression, &move |name| parameters.get(name))
        }
    }

    /// Returns the regular expression of a parameter's name.
    type ParameterRegex<'a> = &'a dyn Fn(&Spanned<'_>) -> Option<&'static str>;

    fn regex(expression: &str, parameters: ParameterRegex<'_>) -> Result<Regex, String> {
        cucumber::codegen::Expression::regex_with_parameters(expression, AnyParameters(parameters))
            .map_err(|error| error.to_string())
    }

    /// Parameters of any step.
    #[derive(Clone, Copy)]
    struct AnyParameters<'a>(ParameterRegex<'a>);

    impl<'s> ParametersProvider<Spanned<'s>> for AnyParameters<'_> {
        type Item = char;
        type Value = &'static str;

        fn get(&self, name: &Spanned<'s>) -> Option<Self::Value> {
            (self.0)(name)
        }
    }
}
